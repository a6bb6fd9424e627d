import { controllerOf, ownerReference } from "@capstan/apimachinery";
import { CLUSTER_SECRET_TYPE, Secret } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import type { ControlPlaneRecovery } from "../kinds/control-plane-recovery.ts";
import { newNodeScript } from "./restore-script.ts";

/** Name of the Secret with a recovery's scripts. */
export function restoreSecretName({ metadata }: ControlPlaneRecovery): string {
  return `${metadata.name ?? ""}-restore-etcd`;
}

/** The Secret with the scripts of a recovery; fails if there is one of this name that a tenant made. */
export async function restoreSecretOf(
  recovery: ControlPlaneRecovery,
  { client }: ReconcileContext,
): Promise<Secret | undefined> {
  const key = { namespace: recovery.metadata.namespace ?? "", name: restoreSecretName(recovery) };
  const secret = await client.get(Secret, key);
  if (secret === undefined || controllerOf(secret)?.uid === recovery.metadata.uid) return secret;
  throw new Error(
    `Secret ${key.name} has the name of the scripts that restore etcd, and belongs to another owner: delete it`,
  );
}

/** Writes the Secret from which bootstrap data takes the scripts. */
export async function ensureRestoreSecret(
  recovery: ControlPlaneRecovery,
  script: string,
  context: ReconcileContext,
): Promise<void> {
  const existing = await restoreSecretOf(recovery, context);
  const { namespace = "" } = recovery.metadata;
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const desired = {
    apiVersion: "v1",
    kind: Secret.kind,
    metadata: {
      namespace,
      name: restoreSecretName(recovery),
      ownerReferences: [ownerReference(recovery, { controller: true })],
    },
    type: CLUSTER_SECRET_TYPE,
    data: { script: base64(script), after: base64(newNodeScript) },
  };
  await context.client.ensure(desired as Secret, existing);
}

/** Deletes the Secret with the scripts, and none that a tenant made. */
export async function deleteRestoreSecret(recovery: ControlPlaneRecovery, context: ReconcileContext): Promise<void> {
  const secret = await restoreSecretOf(recovery, context).catch(() => undefined);
  if (secret !== undefined) await context.client.delete(secret);
}
