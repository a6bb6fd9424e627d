import type { ProvisioningState } from "../kinds/bare-metal-host-status.ts";
import { detachWish, inspectionDisabled, inspectionWanted, rebootWish } from "./annotations.ts";
import {
  failedBefore,
  mustDeprovision,
  mustPrepare,
  runsSomething,
  stateOf,
  triedBefore,
  wantsImage,
} from "./status.ts";
import type { DriverCall, HostView, Operation, Step } from "./step.ts";

/** How long an operating system may take to shut down before the power is cut. */
export const SOFT_OFF_MS = 180_000;

const WAIT: Step = { type: "wait" };
const enter = (state: ProvisioningState): Step => ({ type: "enter", state });

/** Decides what to do with a host next; a pure function of the view. */
export function nextStep(view: HostView): Step {
  const { host, status } = view;
  const state = stateOf(status);
  if (host.metadata.deletionTimestamp !== undefined) {
    const step = deletionStep(view, state);
    if (step !== undefined) return step;
  }
  const detached = detachedStep(view, state);
  if (detached !== undefined) return detached;
  if (state === "" || state === "unmanaged") return unmanagedStep(view, state);
  return accessStep(view, state) ?? stateStep(view, state);
}

/** Where a host that is being deleted goes; undefined where its state's own work leads there. */
function deletionStep(view: HostView, state: ProvisioningState): Step | undefined {
  const { status, access, host } = view;
  if (state === "deleting")
    return status.provisioning.ID === "" || access.type !== "good" ? { type: "forget" } : call(view, { op: "release" });
  const detach = detachWish(host);
  if (detach !== undefined && status.operationalStatus === "detached")
    return detach.delayDelete ? WAIT : enter("deleting");
  if (state === "" || state === "unmanaged" || state === "registering") return enter("deleting");
  // Without credentials it can no longer be powered off.
  if (access.type !== "good")
    return {
      type: "enter",
      state: "deleting",
      gaveUp: gaveUpText(access.type === "bad" ? access.message : "it has no BMC"),
    };
  if (state === "deprovisioning" || state === "powering off before delete") {
    if (status.errorCount <= view.limits.deletionRetries) return undefined;
    const next = state === "deprovisioning" ? "powering off before delete" : "deleting";
    return { type: "enter", state: next, gaveUp: gaveUpText(status.errorMessage) };
  }
  return enter(state === "provisioning" || state === "provisioned" ? "deprovisioning" : "powering off before delete");
}

function gaveUpText(cause: string): string {
  return `Deletion continues without the management controller; power the machine off and clean it manually: ${cause}`;
}

function detachedStep(view: HostView, state: ProvisioningState): Step | undefined {
  const { host, status } = view;
  const wish = detachWish(host);
  const isDetached = status.operationalStatus === "detached";
  if (wish === undefined && status.errorType === "detach error") return { type: "recover" };
  if (wish === undefined) return isDetached ? { type: "attach" } : undefined;
  if (isDetached) return WAIT;
  const may = wish.force || runsSomething(state) || state === "available";
  return may && state !== "" && state !== "unmanaged" ? call(view, { op: "release" }) : undefined;
}

function unmanagedStep({ access }: HostView, state: ProvisioningState): Step {
  if (access.type !== "none") return enter("registering");
  return state === "unmanaged" ? WAIT : enter("unmanaged");
}

/** Credentials must be there and tried before anything else is done with the management controller. */
function accessStep(view: HostView, state: ProvisioningState): Step | undefined {
  const { access, status } = view;
  const error = registrationError(state);
  const refuse = (message: string): Step => refusal(view, { type: "refuse", error, message, op: "register" });
  if (access.type === "none")
    return refuse("spec.bmc was removed: set its address and credentialsName again, or delete the host");
  if (access.type === "bad") return refuse(access.message);
  if (state === "registering")
    return view.conflict === undefined ? call(view, { op: "register" }) : refuse(view.conflict);
  const known = status.goodCredentials;
  const same = known?.credentials?.name === access.secret && known.credentialsVersion === access.version;
  const failed = status.errorType === "registration error" || status.errorType === "provisioned registration error";
  return same && !failed ? undefined : call(view, { op: "register" });
}

/** Returns the error type for an unreachable management controller; a provisioned host has its own, because it keeps running. */
export function registrationError(state: ProvisioningState): "registration error" | "provisioned registration error" {
  return runsSomething(state) ? "provisioned registration error" : "registration error";
}

function stateStep(view: HostView, state: ProvisioningState): Step {
  const { host, status, memory } = view;
  switch (state) {
    case "inspecting":
      return inspectionDisabled(host) ? enter("preparing") : call(view, { op: "inspect" });
    case "preparing":
      return call(view, { op: "prepare" });
    case "available":
      return availableStep(view);
    case "provisioning":
      // The image was taken away or exchanged while it was being put on.
      return triedBefore(host, status) && wantsImage(host) ? call(view, { op: "provision" }) : enter("deprovisioning");
    case "provisioned":
      if (mustDeprovision(host, status)) return enter("deprovisioning");
      return memory.adopted === true ? powerStep(view) : call(view, { op: "adopt" });
    case "externally provisioned":
      if (host.spec.externallyProvisioned !== true) return enter("provisioned");
      return memory.adopted === true ? powerStep(view) : call(view, { op: "adopt" });
    case "deprovisioning":
      return call(view, { op: "deprovision" });
    case "powering off before delete":
      if (host.spec.disablePowerOff === true) return enter("deleting");
      return call(view, { op: "powerOff", mode: "hard" });
    default:
      return WAIT;
  }
}

function availableStep(view: HostView): Step {
  const { host, status, limits } = view;
  if (host.spec.externallyProvisioned === true) return enter("externally provisioned");
  if (inspectionWanted(host) && !inspectionDisabled(host)) return enter("inspecting");
  if (mustPrepare(host, status)) return enter("preparing");
  const fails = failedBefore(host, status);
  if (!fails && (status.errorType === "provisioning error" || (status.provisioningFailCount ?? 0) > 0))
    return { type: "recover" };
  // A machine has claimed the host and brings its image soon: what may be on its disk must not start before.
  if (!wantsImage(host) && !status.poweredOn && host.spec.consumerRef?.kind === "Metal3Machine") return WAIT;
  if (!host.spec.online || !wantsImage(host)) return powerStep(view);
  if (!fails) return enter("provisioning");
  if ((status.provisioningFailCount ?? 0) < limits.provisioningRetries)
    return waitFor(view, "provision") ?? enter("provisioning");
  const message = `Provisioning failed ${status.provisioningFailCount} times and is not retried: change or remove spec.image. ${status.errorMessage}`;
  return status.errorType === "provisioning error" && status.errorMessage.startsWith("Provisioning failed ")
    ? WAIT
    : { type: "refuse", error: "provisioning error", message, op: "provision" };
}

/** Keeps the power as it should be, and carries out reboots. */
function powerStep(view: HostView): Step {
  const { host, status, memory, nowMs, limits } = view;
  const wish = rebootWish(host);
  // Whoever changed something wants to see soon whether the host still answers.
  const isNews = memory.polledFor !== memory.fingerprint;
  const due = isNews ? nowMs : (memory.polledAtMs ?? Number.NEGATIVE_INFINITY) + limits.pollMs;
  if (due <= nowMs) return call(view, { op: "power" });
  const rest: Step = { type: "wait", afterMs: due - nowMs };
  if (host.spec.disablePowerOff === true) {
    if (!status.poweredOn) return call(view, { op: "powerOn" });
    return wish?.once === true ? call(view, { op: "reboot", mode: wish.mode }) : rest;
  }
  const on = host.spec.online && wish === undefined;
  if (status.poweredOn && !on) return call(view, { op: "powerOff", mode: offMode(view) });
  if (wish?.once === true && !status.poweredOn) return { type: "rebooted" };
  return on && !status.poweredOn ? call(view, { op: "powerOn" }) : rest;
}

function offMode({ host, status, memory, nowMs }: HostView): "soft" | "hard" {
  if (rebootWish(host)?.mode === "hard" || status.errorType === "power management error") return "hard";
  return memory.softOffSinceMs !== undefined && nowMs - memory.softOffSinceMs >= SOFT_OFF_MS ? "hard" : "soft";
}

/** A call, unless it failed a short while ago and nothing has changed since. */
function call(view: HostView, driverCall: DriverCall): Step {
  return waitFor(view, driverCall.op) ?? { type: "call", call: driverCall };
}

/** The same for what is wrong without a call. */
function refusal(view: HostView, step: Extract<Step, { type: "refuse" }>): Step {
  const told = view.status.errorType === step.error && view.status.errorMessage === step.message;
  return (told ? waitFor(view, step.op) : undefined) ?? step;
}

function waitFor({ memory, nowMs }: HostView, op: Operation): Step | undefined {
  const { retry, fingerprint } = memory;
  if (retry === undefined || retry.op !== op || retry.fingerprint !== fingerprint || retry.atMs <= nowMs)
    return undefined;
  return { type: "wait", afterMs: retry.atMs - nowMs };
}
