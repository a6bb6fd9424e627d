import { controllerOf, isReason, type OwnerReference } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL, CLUSTER_SECRET_TYPE, type KubeadmConfig, Secret, secretText } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import { fail } from "./progress.ts";

/** The key that keeps the token a config made, so that it can be refreshed without being read out of the data. */
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

function ownerOf(config: KubeadmConfig): OwnerReference {
  return {
    apiVersion: config.apiVersion,
    kind: config.kind,
    name: config.metadata.name ?? "",
    uid: config.metadata.uid ?? "",
    controller: true,
  };
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
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [CLUSTER_NAME_LABEL]: clusterName },
      ownerReferences: [ownerOf(config)],
    },
    type: CLUSTER_SECRET_TYPE,
    data: {
      value: encode(data.value),
      format: encode(data.format),
      ...(data.token === undefined ? {} : { [TOKEN_KEY]: encode(data.token) }),
    },
  };
  let existing = dataSecret(config, context);
  if (existing === undefined) {
    try {
      await context.client.create(desired);
      return name;
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
      existing = await context.client.get(Secret, { namespace, name });
    }
  }
  const controller = existing === undefined ? undefined : controllerOf(existing);
  if (controller !== undefined && controller.uid !== config.metadata.uid && controller.kind !== config.kind)
    fail(
      `Secret ${name} belongs to ${controller.kind} ${controller.name}, so bootstrap data cannot go there: delete it or rename the KubeadmConfig`,
      RETRY_MS,
    );
  await context.client.ensure(desired, existing);
  return name;
}

const RETRY_MS = 30_000;

/**
 * Restores the owner reference of the data Secret, which a restore from backup can lose, so that it is garbage collected with the config.
 */
export async function ensureOwned(config: KubeadmConfig, context: ReconcileContext): Promise<void> {
  const secret = dataSecret(config, context);
  if (secret === undefined || controllerOf(secret)?.uid === config.metadata.uid) return;
  const others = (secret.metadata.ownerReferences ?? []).filter((owner) => owner.controller !== true);
  if (controllerOf(secret) !== undefined && controllerOf(secret)?.kind !== config.kind) return;
  await context.client.patch(secret, {
    metadata: { ownerReferences: [...others, ownerOf(config)], resourceVersion: secret.metadata.resourceVersion },
  });
}
