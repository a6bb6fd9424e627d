import { formatTime, type Random } from "@capstan/apimachinery";
import { HOST_INSPECT_ANNOTATION, HOST_REBOOT_ANNOTATION } from "../kinds/bare-metal-host.ts";
import type { HostErrorType, ProvisioningState } from "../kinds/bare-metal-host-status.ts";
import type { HardwareDetails } from "../kinds/hardware-details.ts";
import type { HardwareHealth, PowerReport, StepFailure, StepResult } from "../provisioner/provisioner.ts";
import { inspectionDisabled } from "./annotations.ts";
import { backOffMs } from "./back-off.ts";
import { healthText } from "./conditions.ts";
import { enterState, type HostEvent } from "./enter-state.ts";
import { registrationError } from "./next-step.ts";
import { type HostStatus, stateOf, withError, withoutError } from "./status.ts";
import type { DriverCall, HostMemory, HostView, Operation, Step } from "./step.ts";

/** Result of a step: the new status, events, and when to continue. */
export interface Turn {
  readonly status: HostStatus;
  readonly memory: HostMemory;
  readonly events: readonly HostEvent[];
  /** When to continue; undefined means on the next change. */
  readonly againMs: number | undefined;
  readonly dropAnnotations?: readonly string[];
  /** To be stored in HardwareData. */
  readonly hardware?: HardwareDetails;
  /** Whether deletion is complete and finalizers can be removed. */
  readonly forget?: boolean;
}

/** A call that has not come to an end after this long has failed. */
const LIMIT_MS: Readonly<Record<Operation, number>> = {
  register: 120_000,
  inspect: 30 * 60_000,
  prepare: 60 * 60_000,
  provision: 60 * 60_000,
  deprovision: 30 * 60_000,
  adopt: 10 * 60_000,
  release: 120_000,
  power: 120_000,
  powerOn: 300_000,
  powerOff: 300_000,
  reboot: 300_000,
};

/** In these states failures are counted over all calls: the host leaves them after too many. */
const COUNTING: readonly ProvisioningState[] = ["provisioning", "deprovisioning", "powering off before delete"];
const PROVISION_ERRORS = 3;

/** Computes the result of a step that does not call the driver. */
export function afterStep(view: HostView, step: Exclude<Step, { type: "call" }>, random: Random): Turn {
  const { status, memory } = view;
  switch (step.type) {
    case "wait":
      return { status, memory, events: [], againMs: step.afterMs };
    case "enter": {
      const entered = enterState(view, step.state);
      const gaveUp: HostEvent[] =
        step.gaveUp === undefined ? [] : [{ type: "Warning", reason: "DeletionForced", note: step.gaveUp }];
      return { ...entered, events: [...gaveUp, ...entered.events], againMs: 0 };
    }
    case "refuse":
      return failed(view, step.op, step.error, step.message, random);
    case "rebooted":
      return { status, memory, events: [], againMs: 0, dropAnnotations: [HOST_REBOOT_ANNOTATION] };
    case "recover": {
      const { provisioningFailCount: _, ...rest } = withoutError(status);
      return { status: rest, memory, events: [], againMs: 0 };
    }
    case "attach": {
      const { goodCredentials: _, ...rest } = status;
      return {
        status: { ...rest, operationalStatus: "OK" },
        memory: { ...memory, adopted: false },
        events: [],
        againMs: 0,
      };
    }
    case "forget":
      return { status, memory, events: [], againMs: undefined, forget: true };
  }
}

/** Computes the result of a driver call from what the driver returned. */
export function afterCall(view: HostView, call: DriverCall, result: StepResult<unknown>, random: Random): Turn {
  const { nowMs } = view;
  const before = view.memory.running;
  const idle = before?.op === call.op ? withoutRunning(view.memory) : view.memory;
  if (result.type === "done") return succeeded({ ...view, memory: idle }, call, result.value);
  if (result.type === "failed") return callFailed({ ...view, memory: idle }, call, result, random);
  const running = before?.op === call.op ? before : { op: call.op, sinceMs: nowMs };
  const lasted = nowMs - running.sinceMs;
  if (lasted >= LIMIT_MS[call.op])
    return callFailed(
      { ...view, memory: idle },
      call,
      { type: "failed", message: `${result.what}; this has taken ${Math.round(lasted / 1000)} s, which is too long` },
      random,
    );
  const softOff =
    call.op === "powerOff" && call.mode === "soft" ? { softOffSinceMs: idle.softOffSinceMs ?? nowMs } : {};
  return { status: view.status, memory: { ...idle, running, ...softOff }, events: [], againMs: result.againAfterMs };
}

function withoutRunning(memory: HostMemory): HostMemory {
  const { running: _, ...rest } = memory;
  return rest;
}

function callFailed(view: HostView, call: DriverCall, result: StepFailure, random: Random): Turn {
  const state = stateOf(view.status);
  if (call.op === "release" && state === "deleting") return { ...afterStep(view, { type: "forget" }, random) };
  const error = result.access === undefined ? errorTypeOf(call.op) : registrationError(state);
  const op = result.access === undefined ? call.op : "register";
  const turn = failed(view, op, error, result.message, random, result.access);
  const tooOften = result.fatal === true || turn.status.errorCount > PROVISION_ERRORS;
  if (state !== "provisioning" || !tooOften) return turn;
  const count = (view.status.provisioningFailCount ?? 0) + 1;
  const retry = retryOf(view, "provision", backOffMs(count, random));
  const status: HostStatus = { ...turn.status, errorType: "provisioning error", provisioningFailCount: count };
  const entered = enterState({ ...view, status, memory: { ...turn.memory, retry } }, "deprovisioning", true);
  return { ...entered, events: [...turn.events, ...entered.events], againMs: 0 };
}

function failed(
  view: HostView,
  op: Operation,
  type: HostErrorType,
  message: string,
  random: Random,
  access?: StepFailure["access"],
): Turn {
  const status = withError(view.status, type, message);
  const afterMs = backOffMs(status.errorCount, random);
  const memory = { ...view.memory, retry: retryOf(view, op, afterMs) };
  const reason = access === "refused" ? "BMCCredentialError" : EVENT_OF[type];
  const repeated = view.status.errorType === type && view.status.errorMessage === message;
  const events: HostEvent[] =
    repeated && view.status.errorCount > 3 ? [] : [{ type: "Warning", reason, note: message }];
  return { status: withTried(view, status), memory, events, againMs: afterMs };
}

function retryOf({ memory, nowMs }: HostView, op: Operation, afterMs: number): NonNullable<HostMemory["retry"]> {
  return { op, atMs: nowMs + afterMs, fingerprint: memory.fingerprint };
}

const EVENT_OF: Readonly<Record<HostErrorType, string>> = {
  "registration error": "RegistrationError",
  "provisioned registration error": "ProvisionedRegistrationError",
  "inspection error": "InspectionError",
  "preparation error": "PreparationError",
  "provisioning error": "ProvisioningError",
  "power management error": "PowerManagementError",
  "detach error": "DetachError",
  "servicing error": "ServicingError",
};

function errorTypeOf(op: Operation): HostErrorType {
  if (op === "register") return "registration error";
  if (op === "inspect") return "inspection error";
  if (op === "prepare") return "preparation error";
  if (op === "release") return "detach error";
  return op === "provision" || op === "deprovision" ? "provisioning error" : "power management error";
}

function succeeded(view: HostView, call: DriverCall, value: unknown): Turn {
  const { host, status, nowMs } = view;
  const { softOffSinceMs, ...rest } = view.memory;
  // Reading the power state during a shutdown does not end the shutdown.
  const memory: HostMemory = call.op === "power" && softOffSinceMs !== undefined ? view.memory : rest;
  const state = stateOf(status);
  const stay = (change: HostStatus, more: Partial<Turn> = {}): Turn => ({
    status: change,
    memory,
    events: [],
    againMs: 0,
    ...more,
  });
  const go = (change: HostStatus, to: ProvisioningState, ...events: HostEvent[]): Turn => {
    const entered = enterState({ ...view, memory, status: change }, to);
    return { ...entered, events: [...events, ...entered.events], againMs: 0 };
  };
  const power = (on: boolean, ...events: HostEvent[]): Turn =>
    stay(
      { ...withoutError(status, "power management error"), poweredOn: on },
      { memory: { ...memory, polledAtMs: nowMs, polledFor: memory.fingerprint }, events },
    );
  switch (call.op) {
    case "register":
      return registered({ ...view, memory }, (value as { id: string }).id);
    case "inspect": {
      const hardware = value as HardwareDetails;
      const turn = go(
        { ...withoutError(status), hardware },
        "preparing",
        normal("InspectionComplete", foundText(hardware)),
      );
      return { ...turn, hardware, dropAnnotations: inspectionDisabled(host) ? [] : [HOST_INSPECT_ANNOTATION] };
    }
    case "prepare":
      return go(prepared(view), "available");
    case "provision": {
      const { provisioningFailCount: _fails, ...rest } = withoutError(status);
      return go({ ...rest, provisioning: { ...rest.provisioning, ...runs(view) }, poweredOn: true }, "provisioned");
    }
    case "deprovision":
      return go(
        { ...status, poweredOn: false },
        host.metadata.deletionTimestamp === undefined ? "available" : "powering off before delete",
      );
    case "adopt":
      return stay(status, { memory: { ...memory, adopted: true } });
    case "release":
      if (state === "deleting") return stay(status, { againMs: undefined, forget: true });
      return stay(
        { ...withoutError(status), operationalStatus: "detached" },
        {
          againMs: undefined,
          events: [normal("Detached", "The management controller is not contacted until the annotation is removed")],
        },
      );
    case "power": {
      const { on, health } = value as PowerReport;
      const turn = power(on, ...healthNews(memory.health, health));
      return { ...turn, memory: { ...turn.memory, ...(health === undefined ? {} : { health }) } };
    }
    case "powerOn":
      return power(true, normal("PowerOn", "The host is powered on"));
    case "powerOff":
      if (state === "powering off before delete")
        return go({ ...status, poweredOn: false }, "deleting", normal("PowerOff", "The host is powered off"));
      return power(false, normal("PowerOff", "The host is powered off"));
    case "reboot":
      return { ...power(true, normal("PowerOn", "The host was restarted")), dropAnnotations: [HOST_REBOOT_ANNOTATION] };
  }
}

/** Only what changes while it is watched: after a restart it would be old news. */
function healthNews(before: HardwareHealth | undefined, now: HardwareHealth | undefined): HostEvent[] {
  if (before === undefined || now === undefined || before === now) return [];
  if (now === "OK")
    return [normal("HealthRestored", "The management controller reports that the hardware is healthy again")];
  return [{ type: "Warning", reason: "HealthDegraded", note: healthText(now) }];
}

function normal(reason: string, note: string): HostEvent {
  return { type: "Normal", reason, note };
}

function foundText(hardware: HardwareDetails): string {
  const { cpu, ramMebibytes, nics, storage } = hardware;
  return `Found ${cpu?.count ?? 0} CPUs, ${ramMebibytes ?? 0} MiB of memory, ${nics?.length ?? 0} NICs and ${storage?.length ?? 0} disks`;
}

/** The credentials are good; where the host goes from registering depends on what it is. */
function registered(view: HostView, id: string): Turn {
  const { host, status, access, nowMs } = view;
  const state = stateOf(status);
  const credentials = access.type === "good" ? credentialsOf(view, access) : {};
  const cleared = withoutError(status, "registration error", "provisioned registration error", "detach error");
  const next: HostStatus = {
    ...cleared,
    errorCount: COUNTING.includes(state) ? status.errorCount : cleared.errorCount,
    provisioning: { ...cleared.provisioning, ID: id },
    goodCredentials: credentials,
    triedCredentials: credentials,
  };
  const event = normal("BMCAccessValidated", "The management controller answers and accepts the credentials");
  if (state !== "registering") return { status: next, memory: view.memory, events: [event], againMs: 0 };
  const { register } = next.operationHistory ?? {};
  const operationHistory = { ...next.operationHistory, register: { ...register, end: formatTime(nowMs) } };
  const to =
    host.spec.externallyProvisioned === true
      ? "externally provisioned"
      : inspectionDisabled(host)
        ? "preparing"
        : "inspecting";
  const entered = enterState({ ...view, status: { ...next, operationHistory } }, to);
  const events = [
    normal("Registered", "The host is registered"),
    event,
    ...(to === "preparing" ? [normal("InspectionSkipped", "Inspection is disabled")] : []),
  ];
  return { ...entered, events: [...events, ...entered.events], againMs: 0 };
}

function withTried(view: HostView, status: HostStatus): HostStatus {
  return view.access.type === "good" ? { ...status, triedCredentials: credentialsOf(view, view.access) } : status;
}

function credentialsOf(
  { host }: HostView,
  access: { secret: string; version: string },
): NonNullable<HostStatus["goodCredentials"]> {
  return {
    credentials: { name: access.secret, namespace: host.metadata.namespace ?? "" },
    credentialsVersion: access.version,
  };
}

/** What the host runs now, to be compared with what it should run. */
function runs({ host }: HostView): Pick<HostStatus["provisioning"], "image" | "customDeploy"> {
  const { image, customDeploy } = host.spec;
  return { image, customDeploy };
}

function prepared({ host, status }: HostView): HostStatus {
  const { rootDeviceHints, raid, bootMode = "UEFI" } = host.spec;
  const { rootDeviceHints: _hints, raid: _raid, ...rest } = status.provisioning;
  return {
    ...withoutError(status, "preparation error"),
    hardwareProfile: host.spec.hardwareProfile ?? "unknown",
    provisioning: {
      ...rest,
      bootMode,
      ...(rootDeviceHints === undefined ? {} : { rootDeviceHints }),
      ...(raid === undefined ? {} : { raid }),
    },
  };
}
