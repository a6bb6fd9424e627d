/** Where a machine can be reached. */
export interface MachineAddress {
  type: "Hostname" | "ExternalIP" | "InternalIP" | "ExternalDNS" | "InternalDNS";
  address: string;
}

/** A part of the infrastructure that fails on its own (a rack, a zone). */
export interface FailureDomain {
  name: string;
  controlPlane?: boolean;
  attributes?: Record<string, string>;
}

/** A reference without version: the version is chosen at read time through the CRD's contract labels. */
export interface ContractReference {
  apiGroup: string;
  kind: string;
  name: string;
}
