/** What a person does about reasons that do not go away by waiting. */
const CURES: Readonly<Record<string, string>> = {
  BootstrapDataNotSupported: "Set spec.delivery in a new template to one that delivers this format",
  CrashLoop: "Read the end of its console and log, then delete the Machine to have it replaced",
  DiskRefused: "Correct the sizes in a new template",
  FolderClosed: "Give the folder the permission that the message names",
  GuestPanicked: "Read the end of its console, then delete the Machine to have it replaced",
  ImageChecksumMismatch: "Correct the checksum or the image in a new template",
  ImageInvalid: "Correct the image or its format in a new template",
  ImageNotFound: "Correct the location of the image in a new template, or provide the image there",
  ImageRefused: "Use an image that the operator of the host allows",
  KVMNotAvailable: "Use accelerator Auto or TCG in a new template, or repair KVM on the host",
  PathRefused: "Use a path that the operator of the host allows",
  QemuNotFound: "Install QEMU on the host",
  QemuTooOld: "Install a newer QEMU on the host",
  SpecInvalid: "Correct the template; this Machine must be replaced",
  Terminated: "Delete the Machine to have it replaced",
  VMLost: "Run the manager on the host that has it, or delete the Machine to have it replaced",
  UserNetworkClosed: "Set openUserNetwork in the settings of the host, as docs/virtual-machines.md describes",
};

/** Returns what to do about a reason; undefined when waiting may help. */
export function cureOf(reason: string): string | undefined {
  return Object.hasOwn(CURES, reason) ? CURES[reason] : undefined;
}

/** Reasons that stay until a person acts. */
export const FAULTS: ReadonlySet<string> = new Set(Object.keys(CURES));
