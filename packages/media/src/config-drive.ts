import { buildIso } from "./iso9660.ts";

/** Contents of a config drive. */
export interface ConfigDriveData {
  readonly metaData: Readonly<Record<string, unknown>>;
  readonly userData: string | undefined;
  readonly networkData: Readonly<Record<string, unknown>> | undefined;
}

/** The label that cloud-init and Ignition look for. */
const CONFIG_DRIVE_LABEL = "config-2";

/** Returns the files of a config drive in OpenStack's layout. */
export function configDriveFiles(data: ConfigDriveData): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const put = (name: string, content: string): void =>
    void files.set(`openstack/latest/${name}`, Buffer.from(content, "utf8"));
  put("meta_data.json", JSON.stringify(data.metaData));
  if (data.userData !== undefined) put("user_data", data.userData);
  if (data.networkData !== undefined) put("network_data.json", JSON.stringify(data.networkData));
  return files;
}

/** Builds a config drive, an image that the operating system finds by its label and configures itself from. */
export function configDrive(data: ConfigDriveData, nowMs: number): Uint8Array {
  return buildIso({ label: CONFIG_DRIVE_LABEL, files: configDriveFiles(data), nowMs });
}
