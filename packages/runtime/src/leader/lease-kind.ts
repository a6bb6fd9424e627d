import type { KubeObject } from "@capstan/apimachinery";
import { kindRef } from "../kind.ts";

/** coordination.k8s.io Lease. */
export interface LeaseObject extends KubeObject {
  spec?: LeaseSpec;
}

/** What a Lease says about its holder. */
export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

/** The Lease kind. */
export const Lease = kindRef<LeaseObject>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
});
