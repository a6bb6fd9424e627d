import { controllerOf, type OwnerReference, ownerReference } from "@capstan/apimachinery";
import {
  CLUSTER_NAME_LABEL,
  CLUSTER_SECRET_TYPE,
  ensureOwned,
  type KubeadmConfig,
  Secret,
  secretText,
} from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { fail } from "./progress.ts";

/** Key with the token of a config, so that it can be refreshed without parsing the data. */
const TOKEN_KEY = "token";

/** Contents of the bootstrap data Secret. */
export interface BootstrapData {
  value: string;
  format: "cloud-config" | "ignition";
  /** The token that was created for this data. */
  token: string | undefined;
}

/** Returns the config's data Secret from the cache. */
export function dataSecret(config: KubeadmConfig, context: ReconcileContext): Secret | undefined {
  return context.cache.get(Secret, { namespace: config.metadata.namespace, name: config.metadata.name ?? "" });
}

/** Returns the token that this config created, if its data Secret exists and is controlled by it. */
export function storedToken(config: KubeadmConfig, secret: Secret | undefined): string | undefined {
  return secret !== undefined && controllerOf(secret)?.uid === config.metadata.uid
    ? secretText(secret, TOKEN_KEY)
    : undefined;
}

/** Writes the data Secret and returns its name. Fails if a controller of another kind owns a Secret of that name. */
export async function storeData(
  config: KubeadmConfig,
  clusterName: string,
  data: BootstrapData,
  context: ReconcileContext,
): Promise<string> {
  const { namespace, name = "" } = config.metadata;
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  const desired: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      namespace,
      labels: { [CLUSTER_NAME_LABEL]: clusterName },
      ownerReferences: [ownerReference(config, { controller: true, block: false })],
    },
    type: CLUSTER_SECRET_TYPE,
    data: {
      value: encode(data.value),
      format: encode(data.format),
      ...(data.token === undefined ? {} : { [TOKEN_KEY]: encode(data.token) }),
    },
  };
  // A KubeadmConfig of the same name with another uid is this one before a restore.
  const isOurs = ({ kind, uid }: OwnerReference): boolean => uid === config.metadata.uid || kind === config.kind;
  const other = await ensureOwned(context, Secret, desired, isOurs);
  if (other !== undefined)
    fail(
      `Secret ${name} belongs to ${other.kind} ${other.name}, so bootstrap data cannot go there: delete it or rename the KubeadmConfig`,
      RETRY_MS,
    );
  return name;
}

const RETRY_MS = 30_000;

/**
 * Restores the owner reference of the data Secret, which a restore from backup can lose, so that it is garbage collected with the config.
 */
export async function restoreOwner(config: KubeadmConfig, context: ReconcileContext): Promise<void> {
  const secret = dataSecret(config, context);
  if (secret === undefined || controllerOf(secret)?.uid === config.metadata.uid) return;
  const others = (secret.metadata.ownerReferences ?? []).filter((owner) => owner.controller !== true);
  if (controllerOf(secret) !== undefined && controllerOf(secret)?.kind !== config.kind) return;
  await context.client.patch(secret, {
    metadata: {
      ownerReferences: [...others, ownerReference(config, { controller: true, block: false })],
      resourceVersion: secret.metadata.resourceVersion,
    },
  });
}
