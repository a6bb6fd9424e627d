/** Where a machine is in its life. */
export type VmPhase =
  /** Something that it needs is not there yet. */
  | "preparing"
  | "starting"
  | "running"
  /** It was requested to shut down. */
  | "stopping"
  /** QEMU has exited and starts again. */
  | "restarting"
  /** QEMU has exited and stays so. */
  | "terminated"
  /** It does not start again by itself: a person or a health check must act. */
  | "failed";

/** Why a machine is where it is. */
export type VmReason =
  | "ImageDownloading"
  | "ImageRefused"
  | "ImageNotFound"
  | "ImageUnreachable"
  | "ImageChecksumMismatch"
  | "ImageInvalid"
  | "NoSpace"
  | "DiskRefused"
  | "PathRefused"
  | "SpecInvalid"
  | "QemuNotFound"
  | "QemuTooOld"
  | "KVMNotAvailable"
  | "FolderClosed"
  | "Starting"
  | "QMPNotAvailable"
  | "Running"
  | "VMPaused"
  | "DiskError"
  | "GuestPanicked"
  | "QemuExited"
  | "CrashLoop"
  | "ShuttingDown"
  | "Terminated";

/** What is known of a machine. */
export interface VmStatus {
  phase: VmPhase;
  reason: VmReason;
  /** For people; without secrets. */
  message: string;
  pid?: number | undefined;
  startedAtMs?: number | undefined;
  qemuVersion?: string | undefined;
  accelerator?: "kvm" | "tcg" | undefined;
  /** Why the accelerator is not KVM. */
  acceleratorMessage?: string | undefined;
  /** How often QEMU has started again. */
  restarts: number;
  /** Whether the agent in the guest listens. */
  agentConnected: boolean;
  /** Options of QEMU that are not as they are ordered now; they apply when the machine starts again. */
  drift: string[];
  /** The disks as the guest sees them. */
  disks: { name: string; bytes: number }[];
}

/** Why a machine cannot be prepared or started; waiting may help. */
export class VmProblem extends Error {
  readonly reason: VmReason;

  constructor(reason: VmReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "VmProblem";
    this.reason = reason;
  }
}
