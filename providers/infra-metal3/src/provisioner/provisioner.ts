import type { BareMetalHostSpec } from "../kinds/bare-metal-host-spec.ts";
import type { HardwareDetails } from "../kinds/hardware-details.ts";

/** Name and password of a management controller; never logged. */
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
  readonly address: string;
  readonly credentials: BmcCredentials;
  readonly disableCertificateVerification: boolean;
  readonly bootMACAddress?: string;
  readonly bootMode: "UEFI" | "UEFISecureBoot" | "legacy";
  /** What the driver called the host when it registered it. */
  readonly id: string | undefined;
}

/**
 * What a driver call comes to. `working`: nothing to do but to ask again after a while, with the same arguments; `failed`: the other
 * side refused or does not answer, `message` says what was tried, what it said and what to do.
 */
export type StepResult<T = undefined> =
  | { readonly type: "done"; readonly value: T }
  | { readonly type: "working"; readonly what: string; readonly againAfterMs: number }
  | { readonly type: "failed"; readonly message: string; readonly credentials?: boolean };

/** What a host boots with. */
export interface ProvisionRequest {
  readonly image: NonNullable<BareMetalHostSpec["image"]>;
  /** Files of the config drive; absent when the host has no user data. */
  readonly configDrive: ConfigDriveData | undefined;
}

/** Contents of a config drive. */
export interface ConfigDriveData {
  readonly metaData: Readonly<Record<string, unknown>>;
  readonly userData: string | undefined;
  readonly networkData: Readonly<Record<string, unknown>> | undefined;
}

export type PowerOffMode = "soft" | "hard";

/**
 * A driver: the only part that talks to management controllers. Every call may be repeated at any point, also by a new process:
 * a driver looks at the machine and does the next step.
 */
export interface Provisioner {
  /** Makes sure that the host answers and that the credentials are right; gives the driver's name for it. */
  register(host: HostIdentity, signal: AbortSignal): Promise<StepResult<{ id: string }>>;
  inspect(host: HostIdentity, restart: boolean, signal: AbortSignal): Promise<StepResult<HardwareDetails>>;
  /** Whether the host is powered on. */
  power(host: HostIdentity, signal: AbortSignal): Promise<StepResult<{ on: boolean }>>;
  powerOn(host: HostIdentity, signal: AbortSignal): Promise<StepResult>;
  powerOff(host: HostIdentity, mode: PowerOffMode, signal: AbortSignal): Promise<StepResult>;
  /** Restarts a host that must never be off. */
  reboot(host: HostIdentity, mode: PowerOffMode, signal: AbortSignal): Promise<StepResult>;
  /** Brings disks and firmware into the wanted shape before the host becomes available. */
  prepare(host: HostIdentity, spec: BareMetalHostSpec, signal: AbortSignal): Promise<StepResult>;
  provision(host: HostIdentity, request: ProvisionRequest, signal: AbortSignal): Promise<StepResult>;
  deprovision(host: HostIdentity, cleaning: "metadata" | "disabled", signal: AbortSignal): Promise<StepResult>;
  /** Takes a host over that already runs what it should. */
  adopt(host: HostIdentity, signal: AbortSignal): Promise<StepResult>;
  /** Forgets the host; its power stays as it is. */
  release(host: HostIdentity, signal: AbortSignal): Promise<StepResult>;
}
