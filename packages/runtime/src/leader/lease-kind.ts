import type { KubeObject } from "@capstan/apimachinery";
import { kindRef } from "../kind.ts";

/** A Lease of coordination.k8s.io/v1. */
export interface LeaseObject extends KubeObject {
  spec?: LeaseSpec;
}

/** Holder and times of a Lease. */
export interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

/** Refers to the Lease kind. */
export const Lease = kindRef<LeaseObject>({
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
});
