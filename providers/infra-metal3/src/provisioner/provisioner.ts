import type { ConfigDriveData } from "@capstan/media";
import type { BareMetalHostSpec } from "../kinds/bare-metal-host-spec.ts";
import type { HardwareDetails } from "../kinds/hardware-details.ts";

/** User name and password of a management controller; never logged. */
export interface BmcCredentials {
  readonly username: string;
  readonly password: string;
  /** CA certificates for its TLS as PEM; the system's by default. */
  readonly ca?: string;
}

/** The host as a driver sees it. */
export interface HostIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `spec.bmc.address`. */
  readonly address: string;
  readonly credentials: BmcCredentials;
  readonly disableCertificateVerification: boolean;
  readonly bootMACAddress: string | undefined;
  readonly bootMode: "UEFI" | "UEFISecureBoot" | "legacy";
  /** Whether it was powered on when it was last polled. */
  readonly poweredOn: boolean;
  /** Annotations of the host, for drivers that read settings from them. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Why a driver call failed: `message` says what was attempted, what the management controller returned and what to do. */
export interface StepFailure {
  readonly type: "failed";
  readonly message: string;
  /** Set if the management controller does not respond or rejects the credentials. */
  readonly access?: "unreachable" | "refused";
  /** Whether a retry cannot succeed. */
  readonly fatal?: boolean;
}

/** Result of a driver call; `working` means: call again later with the same arguments. */
export type StepResult<T = undefined> =
  | { readonly type: "done"; readonly value: T }
  | { readonly type: "working"; readonly what: string; readonly againAfterMs: number }
  | StepFailure;

/** What a host is provisioned with. */
export interface ProvisionRequest {
  readonly image: NonNullable<BareMetalHostSpec["image"]> | undefined;
  readonly customDeploy: string | undefined;
  readonly configDrive: ConfigDriveData;
}

/** Health of the hardware as the management controller reports it. */
export type HardwareHealth = "OK" | "Warning" | "Critical";

/** Power state and health of a host. */
export interface PowerReport {
  readonly on: boolean;
  /** Absent if the management controller does not report it. */
  readonly health?: HardwareHealth;
}

/** `soft` asks the operating system to shut down, `hard` cuts the power. */
export type PowerOffMode = "soft" | "hard";

/**
 * A driver, the only part that talks to management controllers. Calls must be idempotent, also across processes: a driver inspects the
 * machine and performs the next step. It returns failures of the other side instead of throwing.
 */
export interface Provisioner {
  /** Verifies that the host responds and the credentials are valid; returns the driver's ID for it. */
  register(host: HostIdentity, signal: AbortSignal): Promise<StepResult<{ id: string }>>;
  inspect(host: HostIdentity, signal: AbortSignal): Promise<StepResult<HardwareDetails>>;
  /** Returns the power state and the health of the hardware. */
  power(host: HostIdentity, signal: AbortSignal): Promise<StepResult<PowerReport>>;
  powerOn(host: HostIdentity, signal: AbortSignal): Promise<StepResult>;
  powerOff(host: HostIdentity, mode: PowerOffMode, signal: AbortSignal): Promise<StepResult>;
  /** Restarts a host that must never be powered off. */
  reboot(host: HostIdentity, mode: PowerOffMode, signal: AbortSignal): Promise<StepResult>;
  /** Prepares disks and firmware as requested before the host becomes available. */
  prepare(host: HostIdentity, spec: BareMetalHostSpec, signal: AbortSignal): Promise<StepResult>;
  provision(host: HostIdentity, request: ProvisionRequest, signal: AbortSignal): Promise<StepResult>;
  deprovision(host: HostIdentity, cleaning: "metadata" | "disabled", signal: AbortSignal): Promise<StepResult>;
  /** Takes over a host that already runs its image; each process calls it once. */
  adopt(host: HostIdentity, request: ProvisionRequest | undefined, signal: AbortSignal): Promise<StepResult>;
  /** Releases the host without changing its power state. */
  release(host: HostIdentity, signal: AbortSignal): Promise<StepResult>;
}

/** Returns the result of a completed call. */
export function finished(): StepResult;
export function finished<T>(value: T): StepResult<T>;
export function finished(value?: unknown): StepResult<unknown> {
  return { type: "done", value };
}

/** Returns the result of a call that is still in progress. */
export function working(what: string, againAfterMs: number): StepResult<never> {
  return { type: "working", what, againAfterMs };
}

/** Returns the result of a failed call. */
export function failure(message: string, more: Pick<StepFailure, "access" | "fatal"> = {}): StepFailure {
  return { type: "failed", message, ...more };
}
