import { deepCopy, deepEqual } from "@capstan/apimachinery";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import type { BareMetalHostStatus, HostErrorType, ProvisioningState } from "../kinds/bare-metal-host-status.ts";

export type HostStatus = BareMetalHostStatus;

/** The status of a host of which nothing is known. */
export function emptyStatus(): HostStatus {
  return {
    operationalStatus: "",
    errorMessage: "",
    errorCount: 0,
    poweredOn: false,
    provisioning: { state: "", ID: "" },
  };
}

/** A private copy of a host's status, complete. */
export function statusOf(host: BareMetalHost): HostStatus {
  return { ...emptyStatus(), ...(host.status === undefined ? {} : deepCopy(host.status)) };
}

/** The state under today's names. */
export function stateOf(status: HostStatus): ProvisioningState {
  const state = status.provisioning.state as ProvisioningState;
  if (state === "ready") return "available";
  return state === "match profile" ? "preparing" : state;
}

/** Whether something runs on the host. */
export function runsSomething(state: ProvisioningState): boolean {
  return state === "provisioned" || state === "externally provisioned";
}

/** The error the host ended up in. */
export function withError(status: HostStatus, type: HostErrorType, message: string): HostStatus {
  const errorCount = status.errorCount + 1;
  return { ...status, operationalStatus: "error", errorType: type, errorMessage: message, errorCount };
}

/** Takes errors of these types away; without types, any. */
export function withoutError(status: HostStatus, ...types: HostErrorType[]): HostStatus {
  const { errorType, ...rest } = status;
  if (types.length > 0 && errorType !== undefined && !types.includes(errorType)) return status;
  const operationalStatus = rest.operationalStatus === "detached" ? "detached" : "OK";
  return { ...rest, operationalStatus, errorMessage: "", errorCount: 0 };
}

/** Whether the host should run something else than what it runs, or nothing. Changes of checksum or format alone do not count. */
export function mustDeprovision(host: BareMetalHost, status: HostStatus): boolean {
  const { image, customDeploy } = status.provisioning;
  return (
    !wantsImage(host) ||
    (host.spec.image?.url ?? "") !== (image?.url ?? "") ||
    (host.spec.customDeploy?.method ?? "") !== (customDeploy?.method ?? "")
  );
}

/** Whether something is to be put on the host. */
export function wantsImage(host: BareMetalHost): boolean {
  return (host.spec.image?.url ?? "") !== "" || (host.spec.customDeploy?.method ?? "") !== "";
}

/** Whether disks or boot mode have to be brought into another shape first. */
export function mustPrepare(host: BareMetalHost, status: HostStatus): boolean {
  const { rootDeviceHints, raid } = status.provisioning;
  return (
    !deepEqual(host.spec.rootDeviceHints ?? {}, rootDeviceHints ?? {}) || !deepEqual(host.spec.raid ?? {}, raid ?? {})
  );
}

/** Whether provisioning this image was tried before. */
export function triedBefore(host: BareMetalHost, status: HostStatus): boolean {
  return deepEqual(status.lastAttemptedImage ?? {}, host.spec.image ?? {});
}

/** Whether the image the host should get failed on it. */
export function failedBefore(host: BareMetalHost, status: HostStatus): boolean {
  return (status.provisioningFailCount ?? 0) > 0 && wantsImage(host) && triedBefore(host, status);
}
