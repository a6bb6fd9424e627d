import { ownerReference } from "@capstan/apimachinery";
import type { ConditionInput } from "@capstan/capi";
import { type Authorities, ensureAuthorities } from "@capstan/controlplane";
import type { OwnedScope } from "../scope.ts";

const DAY_MS = 86_400_000;
const TYPE = "CertificatesAvailable";

/** The authorities of a control plane, and the condition that reports them. */
export interface Certificates {
  readonly authorities: Authorities | undefined;
  readonly condition: ConditionInput;
}

/** Returns the algorithm of the keys of a control plane; kubeadm's default without a setting. */
export function keyAlgorithm({ object }: OwnedScope) {
  return object.spec.kubeadmConfigSpec?.clusterConfiguration?.encryptionAlgorithm ?? "RSA-2048";
}

/** Reads the authorities, and creates missing ones until the control plane is initialized. Later a missing one is an error to repair. */
export async function ensureCertificates(scope: OwnedScope): Promise<Certificates> {
  const { object, key, initialized, etcdManaged, context } = scope;
  const days = object.spec.kubeadmConfigSpec?.clusterConfiguration?.caCertificateValidityPeriodDays;
  const made = await ensureAuthorities(
    {
      cluster: key,
      owner: ownerReference(object, { controller: true }),
      algorithm: keyAlgorithm(scope),
      mayCreate: !initialized,
      ...(days === undefined ? {} : { validMs: days * DAY_MS }),
      ...(etcdManaged ? {} : { externalEtcd: true }),
    },
    context,
  );
  if ("problem" in made)
    return {
      authorities: undefined,
      condition: { type: TYPE, status: "False", reason: "NotAvailable", message: made.problem },
    };
  return {
    authorities: made.authorities,
    condition: { type: TYPE, status: "True", reason: "Available", message: "" },
  };
}
