import { ownerReference } from "@capstan/apimachinery";
import type { ConditionInput } from "@capstan/capi";
import { type Authorities, ensureAuthorities } from "@capstan/controlplane";
import { authoritiesCondition, EXPIRY_NOTICE_MS } from "../authorities-condition.ts";
import type { RestoreSource } from "../backup/restore.ts";
import type { HostedControlPlane } from "../kinds/hosted-control-plane.ts";
import { clusterKeyOf, type OwnedScope } from "../scope.ts";
import type { Outcome } from "./outcome.ts";
import { refuse } from "./refuse.ts";

const DEFAULT_ALGORITHM = "ECDSA-P256";

/** The CAs of a control plane, and what is reported of them. */
export interface Keys {
  authorities: Authorities;
  condition: ConditionInput;
  /** When to report that a CA expires soon; Infinity if that is already reported. */
  noticeAtMs: number;
}

/** Returns the algorithm of the keys of a control plane. */
export function keyAlgorithm({
  spec,
}: HostedControlPlane): NonNullable<NonNullable<HostedControlPlane["spec"]["certificates"]>["encryptionAlgorithm"]> {
  return spec.certificates?.encryptionAlgorithm ?? DEFAULT_ALGORITHM;
}

/** Creates the CAs in Secrets, or takes them from the backup. Once a control plane has served, no CA is created again. */
export async function ensureKeys(scope: OwnedScope, source: RestoreSource | undefined): Promise<Keys | Outcome> {
  const { object, placement, initialized, context } = scope;
  const rotation = object.spec.certificates?.rotation;
  const made = await ensureAuthorities(
    {
      cluster: clusterKeyOf(scope),
      owner: ownerReference(object, { controller: true }),
      algorithm: keyAlgorithm(object),
      mayCreate: !initialized,
      known: source?.description.authorities,
      ...(placement.singleAuthority === true ? { single: true } : {}),
      rotation,
    },
    context,
  );
  if ("problem" in made) return await refuse(scope, { reason: "CertificatesNotAvailable", message: made.problem });
  const nowMs = context.clock.now();
  const noticeAtMs = made.endMs - EXPIRY_NOTICE_MS;
  return {
    authorities: made.authorities,
    condition: authoritiesCondition(made.rotation, made.endMs, nowMs),
    noticeAtMs: noticeAtMs > nowMs ? noticeAtMs : Infinity,
  };
}
