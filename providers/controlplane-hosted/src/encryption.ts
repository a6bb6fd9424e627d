import { isReason, type OwnerReference, toStrictYaml } from "@capstan/apimachinery";
import { type ClusterKey, Secret, secretText } from "@capstan/capi";
import { clusterSecret } from "@capstan/controlplane";
import { createSecretKey } from "@capstan/pki";
import type { ReconcileContext } from "@capstan/runtime";
import type { HostedControlPlaneSpec } from "./kinds/hosted-control-plane.ts";

type Encryption = NonNullable<HostedControlPlaneSpec["apiServer"]>["encryption"];

/** The key for encryption at rest; backups contain it, because they are unreadable without it. */
export interface EncryptionKey {
  /** 32 bytes in base64. */
  key: string;
  /** All resources that were ever encrypted; they must remain readable. */
  resources: string[];
}

/** Returns the key of a control plane that uses encryption or did so earlier; it is created once and never replaced. */
export async function ensureEncryptionKey(
  request: { cluster: ClusterKey; owner: OwnerReference; spec: Encryption; known?: EncryptionKey },
  context: ReconcileContext,
): Promise<EncryptionKey | undefined> {
  const { cluster, spec, known } = request;
  const name = `${cluster.name}-encryption`;
  const key = { namespace: cluster.namespace, name };
  if (spec === undefined && known === undefined) {
    const kept = context.cache.get(Secret, key);
    return kept === undefined ? undefined : keyOf(kept);
  }
  const wanted = spec === undefined ? [] : (spec.resources ?? ["secrets"]);
  const existing = context.cache.get(Secret, key) ?? (await context.client.get(Secret, key));
  if (existing !== undefined) {
    const found = keyOf(existing);
    const resources = [...new Set([...found.resources, ...wanted])];
    if (resources.length === found.resources.length) return found;
    await context.client.patch(existing, {
      metadata: { resourceVersion: existing.metadata.resourceVersion },
      data: { resources: Buffer.from(resources.join(",")).toString("base64") },
    });
    return { key: found.key, resources };
  }
  const made = known ?? { key: await createSecretKey(), resources: wanted };
  try {
    await context.client.create(
      clusterSecret(request, name, {
        key: made.key,
        resources: [...new Set([...made.resources, ...wanted])].join(","),
      }),
    );
  } catch (error) {
    if (!isReason(error, "AlreadyExists")) throw error;
    return keyOf(await context.client.get(Secret, key));
  }
  return made;
}

function keyOf(secret: Secret | undefined): EncryptionKey {
  const key = secretText(secret, "key") ?? "";
  const resources = (secretText(secret, "resources") ?? "secrets").split(",").filter((name) => name !== "");
  return { key, resources };
}

/**
 * Renders kube-apiserver's EncryptionConfiguration; resources that are no longer encrypted remain readable. Key and resources come from a
 * Secret that the tenant can write.
 */
export function encryptionConfiguration(key: EncryptionKey, spec: Encryption): string {
  const wanted = new Set(spec === undefined ? [] : (spec.resources ?? ["secrets"]));
  const secretbox = { secretbox: { keys: [{ name: "key1", secret: key.key }] } };
  const identity = { identity: {} };
  const part = (resources: string[], providers: object[]): object[] =>
    resources.length === 0 ? [] : [{ resources, providers }];
  return toStrictYaml({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [
      ...part(
        key.resources.filter((name) => wanted.has(name)),
        [secretbox, identity],
      ),
      ...part(
        key.resources.filter((name) => !wanted.has(name)),
        [identity, secretbox],
      ),
    ],
  });
}
