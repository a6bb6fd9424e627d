import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import type { HostErrorType, ProvisioningState } from "../kinds/bare-metal-host-status.ts";
import type { HardwareHealth, PowerOffMode } from "../provisioner/provisioner.ts";
import type { HostStatus } from "./status.ts";

/** Whether the management controller can be called, and with which credentials. */
export type Access =
  | { readonly type: "none" }
  /** The Secret is missing or incomplete, or the address cannot be used. */
  | { readonly type: "bad"; readonly message: string }
  | { readonly type: "good"; readonly secret: string; readonly version: string };

/** What the process remembers about a host between reconciles; all of it may be lost. */
export interface HostMemory {
  /** Changes when a user or another controller changed something, which resets the back-off. */
  readonly fingerprint: string;
  /** The call that failed, and when to retry it. */
  readonly retry?: { readonly op: Operation; readonly atMs: number; readonly fingerprint: string };
  /** The call in progress. */
  readonly running?: { readonly op: string; readonly sinceMs: number };
  readonly softOffSinceMs?: number;
  /** When the power state was last polled, and for which state of the host. */
  readonly polledAtMs?: number;
  readonly polledFor?: string;
  /** The hardware health that was reported then. */
  readonly health?: HardwareHealth;
  /** Whether this process has registered the host with the driver. */
  readonly adopted?: boolean;
}

/** Everything that the next step depends on. */
export interface HostView {
  readonly host: BareMetalHost;
  readonly status: HostStatus;
  readonly access: Access;
  /** Description of another host for the same machine, for messages. */
  readonly conflict: string | undefined;
  readonly memory: HostMemory;
  readonly nowMs: number;
  readonly limits: HostLimits;
}

/** Poll interval and retry limits of the host controller. */
export interface HostLimits {
  /** How often the power state of an idle host is polled. */
  readonly pollMs: number;
  /** After this many failures the same image is not retried. */
  readonly provisioningRetries: number;
  /** After this many failures deletion continues without the management controller. */
  readonly deletionRetries: number;
}

/** The limits that apply unless the provider's options override them. */
export const DEFAULT_LIMITS: HostLimits = { pollMs: 120_000, provisioningRetries: 5, deletionRetries: 3 };

/** A call to the driver. */
export type DriverCall =
  | { readonly op: "register" | "inspect" | "prepare" | "provision" | "deprovision" | "adopt" | "release" }
  | { readonly op: "power" | "powerOn" }
  | { readonly op: "powerOff" | "reboot"; readonly mode: PowerOffMode };
/** Name of a driver call. */
export type Operation = DriverCall["op"];

/** What to do with a host next. */
export type Step =
  /** Wait for a watch event, or for this long. */
  | { readonly type: "wait"; readonly afterMs?: number }
  | { readonly type: "enter"; readonly state: ProvisioningState; readonly gaveUp?: string }
  | { readonly type: "call"; readonly call: DriverCall }
  /** Report an error that no driver call can fix. */
  | { readonly type: "refuse"; readonly error: HostErrorType; readonly message: string; readonly op: Operation }
  /** Finish a one-time reboot and remove its annotation. */
  | { readonly type: "rebooted" }
  /** What failed is no longer requested. */
  | { readonly type: "recover" }
  /** Attach a host that is no longer detached. */
  | { readonly type: "attach" }
  /** Finish the deletion of a host. */
  | { readonly type: "forget" };
