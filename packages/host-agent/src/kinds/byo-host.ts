import {
  array,
  boolean,
  condition,
  defineKind,
  INFRASTRUCTURE_GROUP,
  integer,
  map,
  type ObjectOf,
  object,
  optional,
  type PrinterColumnDefinition,
  string,
  time,
  v1beta1,
} from "@capstan/capi";
import { BYO_HOST_V1BETA1 } from "./byo-host-v1beta1.ts";

const machineRef = object({
  apiVersion: string({ maxLength: 253 }),
  kind: string({ maxLength: 63 }),
  namespace: string({ maxLength: 63 }),
  name: string({ maxLength: 253 }),
  uid: string({ maxLength: 64 }),
});

const secretRef = (doc: string) =>
  object({ name: string({ doc, maxLength: 253 }), namespace: string({ maxLength: 63 }) });

const spec = object({
  labels: optional(map(string(), { doc: "Free facts about the host for selectors; labels of the object serve too." })),
  machineRef: optional(machineRef),
  bootstrapSecret: optional(secretRef("Secret with the bootstrap data.")),
  installationSecret: optional(secretRef("Secret that says how Kubernetes is installed on the host first.")),
  providerID: optional(string({ doc: "What the Node must be registered with.", maxLength: 512 })),
  release: optional(
    object({
      machineUID: string({ doc: "The machine that is to be taken off this host.", maxLength: 64 }),
      requestedAt: time(),
      clusterName: optional(string({ doc: "The Cluster it was a node of.", maxLength: 63 })),
      providerID: optional(string({ doc: "The Node that must be gone before the host is free.", maxLength: 512 })),
    }),
  ),
  unschedulable: optional(boolean({ doc: "true: not given to new machines." })),
});

const step = object({
  name: string({ maxLength: 256 }),
  startedAt: optional(time()),
  exitCode: optional(integer()),
  seconds: optional(integer({ minimum: 0 })),
  output: optional(string({ doc: "The end of what it printed, secrets left out.", maxLength: 4096 })),
});

const status = object({
  conditions: optional(array(condition, { listType: "map", keys: ["type"], maxItems: 32 })),
  hostinfo: optional(
    object({
      osname: optional(string({ maxLength: 64 })),
      osimage: optional(string({ maxLength: 256 })),
      architecture: optional(string({ maxLength: 32 })),
      hostname: optional(string({ maxLength: 253 })),
      kernel: optional(string({ maxLength: 256 })),
      cpus: optional(integer({ minimum: 0 })),
      memoryMiB: optional(integer({ minimum: 0 })),
      disks: optional(
        array(
          object({
            name: string({ maxLength: 64 }),
            sizeGiB: optional(integer({ minimum: 0 })),
            rotational: optional(boolean()),
            model: optional(string({ maxLength: 256 })),
          }),
          { maxItems: 64 },
        ),
      ),
      kubeletVersion: optional(string({ doc: "Version of the kubelet on the host, if there is one.", maxLength: 64 })),
      swap: optional(boolean({ doc: "Whether the host swaps." })),
    }),
  ),
  network: optional(
    array(
      object({
        networkInterfaceName: string({ maxLength: 64 }),
        isDefault: optional(boolean()),
        connected: optional(boolean()),
        macAddr: optional(string({ maxLength: 64 })),
        ipAddrs: optional(array(string({ maxLength: 64 }), { maxItems: 64 })),
      }),
      { maxItems: 64 },
    ),
  ),
  agentVersion: optional(string({ maxLength: 64 })),
  machineID: optional(string({ maxLength: 64 })),
  lastHeartbeatTime: optional(time()),
  certificateExpiresAt: optional(time({ doc: "When the agent's certificate ends; it is renewed long before." })),
  bootstrap: optional(
    object({
      machineUID: string({ maxLength: 64 }),
      phase: string({ enum: ["Running", "Succeeded", "Failed"] }),
      message: optional(string({ maxLength: 4096 })),
      steps: optional(array(step, { maxItems: 64 })),
    }),
  ),
  release: optional(
    object({
      machineUID: string({ maxLength: 64 }),
      phase: string({ enum: ["Running", "Released", "Failed"] }),
      message: optional(string({ maxLength: 4096 })),
    }),
  ),
});

const schema = object({ spec: optional(spec), status: optional(status) });

const columns: PrinterColumnDefinition[] = [
  { name: "Machine", type: "string", jsonPath: ".spec.machineRef.name" },
  { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
  { name: "OSImage", type: "string", jsonPath: ".status.hostinfo.osimage" },
  { name: "Arch", type: "string", jsonPath: ".status.hostinfo.architecture" },
  { name: "Heartbeat", type: "date", jsonPath: ".status.lastHeartbeatTime" },
  { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
];

/** A bring-your-own host: the manager writes metadata and spec, the agent on the host writes status. */
export const ByoHost = defineKind({
  group: INFRASTRUCTURE_GROUP,
  version: "v1beta2",
  kind: "ByoHost",
  plural: "byohosts",
  shortNames: ["byoh"],
  doc: "A host that its owner brings. Its agent reports what it is and runs what a machine that claimed it needs.",
  // Hosts are nobody's, and go where their cluster goes.
  labels: { "clusterctl.cluster.x-k8s.io/move-hierarchy": "" },
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  columns,
  others: [v1beta1(INFRASTRUCTURE_GROUP, "ByoHost", schema, { rules: BYO_HOST_V1BETA1, columns })],
});
export type ByoHost = ObjectOf<typeof ByoHost>;
/** Status of a ByoHost as its agent reports it. */
export type ByoHostStatus = NonNullable<ByoHost["status"]>;
