import type { Authorities } from "@capstan/controlplane";
import type { EncryptionKey } from "../encryption.ts";
import type { ControlPlanePlan } from "../placement/placement.ts";

/** What a backup contains in addition to etcd's data: the endpoint, CAs and keys without which nodes would have to join again. */
export interface ControlPlaneDescription {
  owner: string;
  clusterName: string;
  version: string;
  endpoint: { host: string; port: number };
  authorities: Authorities;
  encryption?: EncryptionKey;
}

/** Serializes the description of a control plane for a backup. */
export function describeControlPlane(plan: ControlPlanePlan): string {
  const { owner, clusterName, version, endpoint, authorities, encryption } = plan;
  const description: ControlPlaneDescription = {
    owner,
    clusterName,
    version,
    endpoint,
    authorities,
    encryption,
  };
  return JSON.stringify(description);
}

/** Parses the description in a backup; throws if it is damaged. */
export function parseDescription(text: string): ControlPlaneDescription {
  const value = JSON.parse(text) as Partial<ControlPlaneDescription>;
  if (value.authorities?.cluster.certPem === undefined || value.endpoint === undefined)
    throw new Error("the backup's description of its control plane is damaged");
  return value as ControlPlaneDescription;
}
