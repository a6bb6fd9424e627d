import { controllerOf, ownerReference } from "@capstan/apimachinery";
import { CLUSTER_SECRET_TYPE, clusterSecretName, Secret } from "@capstan/capi";
import { type Authorities, ensureKubeconfigSecret } from "@capstan/controlplane";
import type { OwnedScope } from "../scope.ts";
import { keyAlgorithm } from "./ensure-certificates.ts";

const DAY_MS = 86_400_000;

/** Ensures the administrator's kubeconfig and returns when to renew it. One that a person provides stays as it is. */
export async function ensureKubeconfig(
  scope: OwnedScope,
  endpoint: { host: string; port: number },
  authorities: Authorities,
): Promise<number> {
  const { object, key, context } = scope;
  const name = clusterSecretName(key.name, "kubeconfig");
  const existing = context.cache.get(Secret, { namespace: key.namespace, name });
  const provided =
    existing !== undefined && existing.type !== CLUSTER_SECRET_TYPE && controllerOf(existing) === undefined;
  if (provided) return Infinity;
  const days = object.spec.kubeadmConfigSpec?.clusterConfiguration?.certificateValidityPeriodDays;
  const { renewAtMs } = await ensureKubeconfigSecret(
    {
      cluster: key,
      owner: ownerReference(object, { controller: true }),
      endpoint,
      authorities,
      algorithm: keyAlgorithm(scope),
      ...(days === undefined ? {} : { validMs: days * DAY_MS }),
    },
    context,
  );
  return renewAtMs;
}
