import { buildIso } from "./iso9660.ts";

/** A network configuration of cloud-init, in version 1 or in version 2 (netplan). */
export type NetworkConfig =
  | { readonly version: 1; readonly config: readonly Readonly<Record<string, unknown>>[] }
  | ({ readonly version: 2 } & Readonly<Record<string, unknown>>);

/** Contents of a NoCloud seed. */
export interface NoCloudData {
  /** `instance-id` decides whether cloud-init sees a new machine. */
  readonly metaData: Readonly<Record<string, unknown>> & { readonly "instance-id": string };
  readonly userData: string | undefined;
  /** User data of the vendor; what the user's data says takes precedence. */
  readonly vendorData?: string | undefined;
  /** Without it cloud-init requests addresses by DHCP. */
  readonly networkConfig?: NetworkConfig | undefined;
}

/** The label that cloud-init looks for. */
const NOCLOUD_LABEL = "cidata";

/** Returns the files of a NoCloud seed. Structured ones are JSON, which is YAML too. */
export function noCloudFiles(data: NoCloudData): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const put = (name: string, content: string): void => void files.set(name, Buffer.from(content, "utf8"));
  put("meta-data", JSON.stringify(data.metaData));
  // cloud-init takes a seed without user-data for incomplete.
  put("user-data", data.userData ?? "");
  if (data.vendorData !== undefined) put("vendor-data", data.vendorData);
  if (data.networkConfig !== undefined) put("network-config", JSON.stringify(data.networkConfig));
  return files;
}

/** Builds a NoCloud seed, an image that cloud-init finds by its label and configures the machine from. */
export function noCloud(data: NoCloudData, nowMs: number): Uint8Array {
  return buildIso({ label: NOCLOUD_LABEL, files: noCloudFiles(data), nowMs });
}
