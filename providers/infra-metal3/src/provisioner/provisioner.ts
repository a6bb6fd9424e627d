import type { ConfigDriveData } from "@capstan/media";
import type { BareMetalHostSpec } from "../kinds/bare-metal-host-spec.ts";
import type { HardwareDetails } from "../kinds/hardware-details.ts";

/** User name and password of a management controller; never logged. */
export interface BmcCredentials {
  readonly username: string;
  readonly password: string;
  /** Certificates that its TLS is verified with, as PEM; absent: the system's. */
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
  /** For drivers whose behaviour can be set there. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** Why a driver call failed: `message` says what was attempted, what the management controller returned and what to do. */
export interface StepFailure {
  readonly type: "failed";
  readonly message: string;
  /** The management controller does not answer or does not let us in. */
  readonly access?: "unreachable" | "refused";
  /** Trying the same again cannot help. */
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
  /** Absent: it does not say. */
  readonly health?: HardwareHealth;
}

/** `soft` asks the operating system to shut down, `hard` cuts the power. */
export type PowerOffMode = "soft" | "hard";

/**
 * A driver, the only part that talks to management controllers. Calls must be idempotent, also across processes: a driver inspects the
 * machine and performs the next step. It returns failures of the other side instead of throwing.
 */
export interface Provisioner {
  /** Makes sure that the host answers and that the credentials are right; gives the driver's name for it. */
  register(host: HostIdentity, signal: AbortSignal): Promise<StepResult<{ id: string }>>;
  inspect(host: HostIdentity, signal: AbortSignal): Promise<StepResult<HardwareDetails>>;
  /** Whether the host is powered on, and how its hardware is. */
  power(host: HostIdentity, signal: AbortSignal): Promise<StepResult<PowerReport>>;
  powerOn(host: HostIdentity, signal: AbortSignal): Promise<StepResult>;
  powerOff(host: HostIdentity, mode: PowerOffMode, signal: AbortSignal): Promise<StepResult>;
  /** Restarts a host that must never be off. */
  reboot(host: HostIdentity, mode: PowerOffMode, signal: AbortSignal): Promise<StepResult>;
  /** Prepares disks and firmware as requested before the host becomes available. */
  prepare(host: HostIdentity, spec: BareMetalHostSpec, signal: AbortSignal): Promise<StepResult>;
  provision(host: HostIdentity, request: ProvisionRequest, signal: AbortSignal): Promise<StepResult>;
  deprovision(host: HostIdentity, cleaning: "metadata" | "disabled", signal: AbortSignal): Promise<StepResult>;
  /** Takes a host over that already runs what it should; called once by every process. */
  adopt(host: HostIdentity, request: ProvisionRequest | undefined, signal: AbortSignal): Promise<StepResult>;
  /** Forgets the host; its power stays as it is. */
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
