import type { ReasonCatalogue } from "@capstan/capi";

const REPLACE = "Delete the Machine to have it replaced; a MachineHealthCheck does it.";

/** Reasons of the conditions of machines that are virtual machines. */
export const KVM_REASONS: ReasonCatalogue = {
  BootstrapDataNotSupported: {
    meaning: "The way that spec.delivery names does not deliver the format of the bootstrap data.",
    cure: "Set another one in a new template; Auto fits both formats.",
  },
  CrashLoop: { meaning: "QEMU has exited three times within ten minutes.", cure: `Read the console. ${REPLACE}` },
  Creating: { meaning: "The virtual machine is being created." },
  DiskError: {
    meaning: "A disk of the machine failed to read or write on its host.",
    cure: "Repair the storage of the host. " + REPLACE,
  },
  DiskRefused: { meaning: "A disk cannot have the size that is stated.", cure: "Correct it in a new template." },
  Drifted: {
    meaning: "QEMU runs with other values than the current ones; a running machine is never restarted for that.",
    cure: "Restart the machine, or replace it.",
  },
  FolderClosed: {
    meaning: "The user that QEMU runs as cannot enter the folder of machines.",
    cure: "Give the folder that the message names to others to enter, or set another directory.",
  },
  GuestAgentConnected: { meaning: "The agent in the guest listens." },
  GuestPanicked: { meaning: "The kernel of the guest panicked a second time.", cure: `Read the console. ${REPLACE}` },
  ImageChecksumMismatch: {
    meaning: "The image does not have its checksum.",
    cure: "Correct the checksum or the image.",
  },
  ImageDownloading: { meaning: "The image is being fetched; the message says how far." },
  ImageInvalid: {
    meaning: "The image is not in the stated format, is too large, or refers to other files.",
    cure: "Convert it with qemu-img convert, or correct spec.image.format.",
  },
  ImageNotFound: { meaning: "There is no image at its location.", cure: "Correct spec.image." },
  ImageRefused: {
    meaning: "The location of the image is one that machines may not use.",
    cure: "Use another location, or have the operator allow it.",
  },
  ImageUnreachable: { meaning: "The server of the image does not answer; the download resumes by itself." },
  InsufficientMemory: {
    meaning: "The memory that the host has for machines is taken.",
    cure: "Delete machines of this host, lower resources.memory, or raise memoryMiB of the host.",
  },
  InSync: { meaning: "QEMU runs with the current values." },
  KVMNotAvailable: {
    meaning: "The machine requires KVM, which does not work on its host.",
    cure: "Use accelerator Auto or TCG, or repair KVM.",
  },
  NoGuestAgent: { meaning: "No agent listens in the guest; install qemu-guest-agent in the image." },
  NoSpace: { meaning: "The host has no space left for images or disks.", cure: "Free space on the host." },
  PathRefused: {
    meaning: "A path of the machine is below none of the folders that its host allows.",
    cure: "Use another path, or have the operator allow it.",
  },
  QMPNotAvailable: {
    meaning: "QEMU does not answer on its control socket, or another client holds the socket.",
    cure: "Close the other client. If there is none, delete the Machine to have it replaced.",
  },
  QemuExited: { meaning: "QEMU has exited; it starts again on the same disks." },
  QemuNotFound: { meaning: "QEMU cannot be executed on the host.", cure: "Install QEMU." },
  QemuTooOld: {
    meaning: "QEMU of the host is too old.",
    cure: "Install the version that the message names, or later.",
  },
  Running: { meaning: "The virtual machine is running." },
  ShuttingDown: { meaning: "The guest is shutting down; when its time is over it is powered off." },
  SpecInvalid: { meaning: "QEMU cannot run the machine as it is specified.", cure: "Correct the template." },
  Starting: { meaning: "QEMU is starting." },
  Terminated: { meaning: "The machine is powered off, and its restart policy keeps it so.", cure: REPLACE },
  UserNetworkClosed: {
    meaning: "The operator of the host does not allow machines to connect to other machines.",
    cure: "Set openUserNetwork in the settings of the host.",
  },
  VMLost: {
    meaning: "The virtual machine was made before, and this host does not have it.",
    cure: "Run the manager on the host that has it, or delete the Machine to have it replaced.",
  },
  VMPaused: { meaning: "The virtual machine is paused.", cure: REPLACE },
  WaitingForNodeIndex: { meaning: "The KVMCluster has not numbered the machine yet." },
};
