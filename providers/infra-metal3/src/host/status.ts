import { deepCopy, deepEqual } from "@capstan/apimachinery";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import type { BareMetalHostStatus, HostErrorType, ProvisioningState } from "../kinds/bare-metal-host-status.ts";

/** Status of a BareMetalHost. */
export type HostStatus = BareMetalHostStatus;

/** Returns the status of a host that has not been reconciled yet. */
export function emptyStatus(): HostStatus {
  return {
    operationalStatus: "",
    errorMessage: "",
    errorCount: 0,
    poweredOn: false,
    provisioning: { state: "", ID: "" },
  };
}

/** Returns a copy of a host's status with all required fields set. */
export function statusOf(host: BareMetalHost): HostStatus {
  return { ...emptyStatus(), ...(host.status === undefined ? {} : deepCopy(host.status)) };
}

/** Returns the provisioning state, with names of earlier releases replaced by current ones. */
export function stateOf(status: HostStatus): ProvisioningState {
  const state = status.provisioning.state as ProvisioningState;
  if (state === "ready") return "available";
  return state === "match profile" ? "preparing" : state;
}

/** Reports whether a host in this state runs a workload. */
export function runsSomething(state: ProvisioningState): boolean {
  return state === "provisioned" || state === "externally provisioned";
}

/** Returns the status with an error set. */
export function withError(status: HostStatus, type: HostErrorType, message: string): HostStatus {
  const errorCount = status.errorCount + 1;
  return { ...status, operationalStatus: "error", errorType: type, errorMessage: message, errorCount };
}

/** Returns the status without errors of these types; without types, of any. */
export function withoutError(status: HostStatus, ...types: HostErrorType[]): HostStatus {
  const { errorType, ...rest } = status;
  if (types.length > 0 && errorType !== undefined && !types.includes(errorType)) return status;
  const operationalStatus = rest.operationalStatus === "detached" ? "detached" : "OK";
  return { ...rest, operationalStatus, errorMessage: "", errorCount: 0 };
}

/** Reports whether the host runs something other than its spec requests. Changes of only checksum or format do not count. */
export function mustDeprovision(host: BareMetalHost, status: HostStatus): boolean {
  const { image, customDeploy } = status.provisioning;
  return (
    !wantsImage(host) ||
    (host.spec.image?.url ?? "") !== (image?.url ?? "") ||
    (host.spec.customDeploy?.method ?? "") !== (customDeploy?.method ?? "")
  );
}

/** Reports whether the spec requests an image or a custom deploy step. */
export function wantsImage(host: BareMetalHost): boolean {
  return (host.spec.image?.url ?? "") !== "" || (host.spec.customDeploy?.method ?? "") !== "";
}

/** Reports whether root device hints or RAID settings changed since the host was prepared. */
export function mustPrepare(host: BareMetalHost, status: HostStatus): boolean {
  const { rootDeviceHints, raid } = status.provisioning;
  return (
    !deepEqual(host.spec.rootDeviceHints ?? {}, rootDeviceHints ?? {}) || !deepEqual(host.spec.raid ?? {}, raid ?? {})
  );
}

/** Reports whether the host's current image was the last one that provisioning attempted. */
export function triedBefore(host: BareMetalHost, status: HostStatus): boolean {
  return deepEqual(status.lastAttemptedImage ?? {}, host.spec.image ?? {});
}

/** Reports whether provisioning the host's current image has failed before. */
export function failedBefore(host: BareMetalHost, status: HostStatus): boolean {
  return (status.provisioningFailCount ?? 0) > 0 && wantsImage(host) && triedBefore(host, status);
}
