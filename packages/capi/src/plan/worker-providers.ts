import { findCondition, isObject, type Unstructured } from "@capstan/apimachinery";
import type { HostKind } from "./capacity.ts";
import type { WorkerGroup } from "./cluster-plan.ts";

/** What a worker group takes beyond what all providers take. */
export interface WorkerSetting {
  summary: string;
  required?: boolean;
  /** What forms and prompts fill in. */
  usual?: string;
}

/** What a provider of workers is called in the API, and what it takes. */
export interface WorkerProvider {
  summary: string;
  clusterKind: string;
  templateKind: string;
  settings: Record<string, WorkerSetting>;
  /** Hosts it chooses from; absent where machines are made as needed. */
  hosts?: HostKind;
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

const field = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);

function isReady(host: Unstructured): boolean {
  const conditions = field(host.status, "conditions");
  return Array.isArray(conditions) && findCondition(conditions, "Ready")?.status === "True";
}

/** The one format of images that Capstan's own driver of bare-metal hosts can use. */
const LIVE_IMAGE = "live-iso";

/** Groups whose hosts would end in an error: their images are for disks, which only another operator of BareMetalHosts writes. */
export function diskImages(groups: readonly Pick<WorkerGroup, "name" | "provider" | "settings">[]): string[] {
  return groups.flatMap(({ name, provider, settings: { format = "" } }) =>
    provider !== "metal3" || format === LIVE_IMAGE || format === ""
      ? []
      : `${name}: a ${format} image is for a disk, and Capstan does not write disks yet: its BareMetalHosts end in an error unless another operator has them; use a live image and format=${LIVE_IMAGE}`,
  );
}

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
    hosts: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "ByoHost",
      cure: "enrol a host",
      command: "capstan host add NAME",
      isFree: (host) =>
        host.metadata.deletionTimestamp === undefined &&
        field(host.spec, "machineRef") === undefined &&
        field(host.spec, "release") === undefined &&
        field(host.spec, "unschedulable") !== true &&
        isReady(host),
    },
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
    hosts: {
      apiVersion: "metal3.io/v1alpha1",
      kind: "BareMetalHost",
      cure: "register a BareMetalHost, see docs/bare-metal.md",
      command: "kubectl apply -f HOST.yaml",
      isFree: (host) => {
        const state = field(field(host.status, "provisioning"), "state");
        return field(host.spec, "consumerRef") === undefined && (state === "available" || state === "ready");
      },
    },
    settings: {
      image: { summary: "address of the image, e.g. http://images/node.iso", required: true },
      format: {
        summary: "live-iso: the image is booted and never written to a disk; disk images are not written yet",
        required: true,
        usual: LIVE_IMAGE,
      },
      checksum: { summary: "checksum of the image, or where it is; live images need none" },
      checksumType: { summary: "md5, sha256 or sha512" },
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
          ...(format === LIVE_IMAGE && checksum === undefined
            ? {}
            : { checksum: checksum ?? `${image}.sha256`, checksumType: checksumType ?? "sha256" }),
          ...(format === undefined ? {} : { diskFormat: format }),
        },
        ...(hostSelector === undefined ? {} : { hostSelector }),
      };
    },
  },
};
