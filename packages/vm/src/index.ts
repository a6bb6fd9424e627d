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
