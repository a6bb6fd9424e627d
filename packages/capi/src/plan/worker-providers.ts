/** What a worker group takes beyond what all providers take. */
export interface WorkerSetting {
  summary: string;
  required?: boolean;
}

/** What a provider of workers is called in the API, and what it takes. */
export interface WorkerProvider {
  summary: string;
  clusterKind: string;
  templateKind: string;
  settings: Record<string, WorkerSetting>;
  /** Spec of the infrastructure cluster. */
  clusterSpec: object;
  /** How its nodes register, where that is not the same everywhere. */
  nodeRegistration?: object;
  /** Spec of one machine. */
  machineSpec(select: Record<string, string>, settings: Record<string, string>): object;
}

/** A provider of workers, by its short name. */
export type ProviderName = "memory" | "byoh" | "metal3";

const labels = (select: Record<string, string>): object | undefined =>
  Object.keys(select).length === 0 ? undefined : { matchLabels: select };

/** Where workers can come from. */
export const WORKER_PROVIDERS: Readonly<Record<ProviderName, WorkerProvider>> = {
  memory: {
    summary: "machines that exist in memory only: for trying things out",
    clusterKind: "MemoryCluster",
    templateKind: "MemoryMachineTemplate",
    settings: { bootSeconds: { summary: "how long a machine takes to boot" } },
    clusterSpec: {},
    machineSpec: (_, { bootSeconds }) => (bootSeconds === undefined ? {} : { bootSeconds: Number(bootSeconds) }),
  },
  byoh: {
    summary: "hosts of your own, enrolled with: capstan host add NAME",
    clusterKind: "ByoCluster",
    templateKind: "ByoMachineTemplate",
    settings: {},
    clusterSpec: {},
    machineSpec: (select) => {
      const selector = labels(select);
      return selector === undefined ? {} : { selector };
    },
  },
  metal3: {
    summary: "bare-metal hosts, known as BareMetalHosts",
    clusterKind: "Metal3Cluster",
    templateKind: "Metal3MachineTemplate",
    settings: {
      image: { summary: "address of the disk image", required: true },
      checksum: { summary: "checksum of the image, or where it is (default: the image's address with .sha256)" },
      checksumType: { summary: "md5, sha256 or sha512" },
      format: { summary: "format of the image: raw, qcow2, live-iso, …" },
    },
    clusterSpec: { cloudProviderEnabled: false },
    // Machines find their Nodes by these; cloud-init on the host fills them in.
    nodeRegistration: {
      name: "{{ ds.meta_data.name }}",
      kubeletExtraArgs: [{ name: "node-labels", value: "metal3.io/uuid={{ ds.meta_data.uuid }}" }],
    },
    machineSpec: (select, { image = "", checksum, checksumType, format }) => {
      const hostSelector = labels(select);
      return {
        image: {
          url: image,
          // A live image is booted, not written to a disk: nothing checks it.
          ...(format === "live-iso" && checksum === undefined
            ? {}
            : { checksum: checksum ?? `${image}.sha256`, checksumType: checksumType ?? "sha256" }),
          ...(format === undefined ? {} : { diskFormat: format }),
        },
        ...(hostSelector === undefined ? {} : { hostSelector }),
      };
    },
  },
};
