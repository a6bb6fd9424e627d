/** Virtual machines of QEMU: arguments, QMP, guest agent, disks, and which accelerator works. */

export { type AcceleratorVerdict, type ProbeRunner, probeAccelerator } from "./accelerator/probe-accelerator.ts";
export { macAddress } from "./arguments/mac-address.ts";
export { type VmPaths, vmPaths } from "./arguments/paths.ts";
export { qemuArgs, qemuCommand } from "./arguments/qemu-args.ts";
export type {
  HostVolume,
  PortForward,
  VmAccelerator,
  VmBoot,
  VmDisk,
  VmMemory,
  VmNetwork,
  VmSpec,
} from "./arguments/vm-spec.ts";
export { vmSpecProblems } from "./arguments/vm-spec-problems.ts";
export { type DiskOrder, type DiskStep, diskStep, formatOf } from "./disks/disk-plan.ts";
export { ensureDisk, type QemuImg } from "./disks/ensure-disk.ts";
export {
  checkImage,
  ImageError,
  type ImageFormat,
  type ImageHeader,
  type ImageProblem,
} from "./disks/image-header.ts";
export { qemuImgProgram } from "./disks/qemu-img.ts";
export { allowedPath, PathRefused } from "./host/allowed-path.ts";
export { kvmGroups, type QemuProgram, type QemuProgramOptions, qemuProgram } from "./host/qemu-program.ts";
export type { VmUser } from "./host/vm-user.ts";
export type { ImageFailure, ImageFailureReason } from "./images/image-failure.ts";
export type { ImageSource, StoredImage } from "./images/image-source.ts";
export { type ImageState, ImageStore, type ImageStoreOptions } from "./images/image-store.ts";
export type { AllowedRoots } from "./runner/spec-of.ts";
export type { VmDeps, VmUsers } from "./runner/vm-deps.ts";
export type { RestartPolicy, VmOrder } from "./runner/vm-order.ts";
export { systemVmProcesses, type VmProcesses } from "./runner/vm-processes.ts";
export { VmRunner } from "./runner/vm-runner.ts";
export { type VmPhase, VmProblem, type VmReason, type VmStatus } from "./runner/vm-status.ts";
export type { VmSeed } from "./seed/seed.ts";
export {
  GuestAgent,
  type GuestAgentOptions,
  type GuestCommandResult,
  type GuestInterface,
} from "./sockets/guest-agent.ts";
export { Qmp, type QmpOptions, type QmpState } from "./sockets/qmp.ts";
export type { QmpEvent } from "./sockets/qmp-events.ts";
export { VmControl } from "./sockets/vm-control.ts";
export { VmSocketError, type VmSocketProblem } from "./sockets/vm-socket-error.ts";
