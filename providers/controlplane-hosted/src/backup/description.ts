import type { Authorities } from "@capstan/controlplane";
import type { EncryptionKey } from "../encryption.ts";
import type { ControlPlanePlan } from "../placement/placement.ts";

/** What beside etcd's data makes a control plane the one its nodes know: without its keys they would have to join again. */
export interface ControlPlaneDescription {
  owner: string;
  clusterName: string;
  version: string;
  endpoint: { host: string; port: number };
  authorities: Authorities;
  encryption?: EncryptionKey;
}

export function describeControlPlane(plan: ControlPlanePlan): string {
  const { owner, clusterName, version, endpoint, authorities, encryption } = plan;
  const description: ControlPlaneDescription = {
    owner,
    clusterName,
    version,
    endpoint,
    authorities,
    ...(encryption === undefined ? {} : { encryption }),
  };
  return JSON.stringify(description);
}

/** Reads a description back; throws when it is none. */
export function parseDescription(text: string): ControlPlaneDescription {
  const value = JSON.parse(text) as Partial<ControlPlaneDescription>;
  if (value.authorities?.cluster.certPem === undefined || value.endpoint === undefined)
    throw new Error("the backup's description of its control plane is damaged");
  return value as ControlPlaneDescription;
}
