import { type ConfigDriveData, configDrive, type NoCloudData, noCloud } from "@capstan/media";

/** What a guest configures itself with when it first boots. It holds tokens and keys. */
export type VmSeed =
  | { type: "noCloud"; data: NoCloudData }
  | { type: "configDrive"; data: ConfigDriveData }
  /** Ignition reads it from the firmware interface, under the name that the operating system looks for. */
  | { type: "ignition"; config: string; name: "opt/org.flatcar-linux/config" | "opt/com.coreos/config" };

/** The file of a seed, and how QEMU hands it to the guest. */
export interface SeedFile {
  content: Uint8Array;
  /** The item of the firmware interface; undefined for a disk. */
  firmwareName: string | undefined;
}

/** Returns the file of a seed. */
export function seedFile(seed: VmSeed, nowMs: number): SeedFile {
  switch (seed.type) {
    case "noCloud":
      return { content: noCloud(seed.data, nowMs), firmwareName: undefined };
    case "configDrive":
      return { content: configDrive(seed.data, nowMs), firmwareName: undefined };
    case "ignition":
      return { content: Buffer.from(seed.config), firmwareName: seed.name };
  }
}
