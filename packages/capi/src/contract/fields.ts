import type { Condition } from "@capstan/apimachinery";
import { isObject } from "@capstan/apimachinery";
import type { ContractObject } from "./builtin-kinds.ts";
import type { ContractVersion } from "./resolve-kind.ts";
import type { FailureDomain, MachineAddress } from "./types.ts";

/** Reads a nested field; returns undefined where the path does not exist. */
export function field(object: unknown, ...path: string[]): unknown {
  let value = object;
  for (const name of path) {
    if (!isObject(value)) return undefined;
    value = value[name];
  }
  return value;
}

/** Returns spec.controlPlaneEndpoint of an infrastructure cluster or control plane once it has a host and a port. */
export function endpointOf(object: ContractObject): { host: string; port: number } | undefined {
  return validEndpoint(field(object, "spec", "controlPlaneEndpoint"));
}

/** Returns the value if it is an endpoint with both a host and a port. */
export function validEndpoint(value: unknown): { host: string; port: number } | undefined {
  const host = field(value, "host");
  const port = field(value, "port");
  return typeof host === "string" && host !== "" && typeof port === "number" && port > 0 ? { host, port } : undefined;
}

/** Whether an infrastructure object reports that it is provisioned, in the field of its contract version. */
export function infrastructureProvisioned(object: ContractObject, contract: ContractVersion): boolean {
  return contract === "v1beta2"
    ? field(object, "status", "initialization", "provisioned") === true
    : field(object, "status", "ready") === true;
}

/** Whether a control plane reports that it is initialized, in the field of its contract version. */
export function controlPlaneInitialized(object: ContractObject, contract: ContractVersion): boolean {
  return contract === "v1beta2"
    ? field(object, "status", "initialization", "controlPlaneInitialized") === true
    : field(object, "status", "initialized") === true;
}

/** Returns the name of the Secret with the bootstrap data, once the bootstrap object reports that it is created. */
export function bootstrapDataSecretName(object: ContractObject, contract: ContractVersion): string | undefined {
  const created =
    contract === "v1beta2"
      ? field(object, "status", "initialization", "dataSecretCreated") === true
      : field(object, "status", "ready") === true;
  const name = field(object, "status", "dataSecretName");
  return created && typeof name === "string" && name !== "" ? name : undefined;
}

/** Returns the failure domains in an object's status; v1beta1 has a map of them, v1beta2 a list. */
export function failureDomainsOf(object: ContractObject): FailureDomain[] {
  const value = field(object, "status", "failureDomains");
  if (Array.isArray(value)) return value as FailureDomain[];
  if (!isObject(value)) return [];
  return Object.entries(value).map(([name, domain]) => ({ name, ...(domain as Omit<FailureDomain, "name">) }));
}

/** Returns the addresses in the status of an infrastructure machine; empty when it reports none. */
export function addressesOf(object: ContractObject): MachineAddress[] {
  const value = field(object, "status", "addresses");
  return Array.isArray(value) ? (value as MachineAddress[]) : [];
}

/** Returns an object's metav1 conditions: those in status.v1beta2 if present, else status.conditions. */
export function conditionsOf(object: { status?: unknown }): Condition[] {
  const own = field(object, "status", "v1beta2", "conditions") ?? field(object, "status", "conditions");
  return Array.isArray(own) ? (own as Condition[]) : [];
}

/** Whether a control plane is managed externally, so that it has neither Machines nor Nodes. */
export function isExternallyManagedControlPlane(object: ContractObject | undefined): boolean {
  return field(object, "status", "externalManagedControlPlane") === true;
}
