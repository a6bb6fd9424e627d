import {
  array,
  boolean,
  condition,
  defineKind,
  integer,
  map,
  type ObjectOf,
  object,
  optional,
  string,
  time,
} from "@capstan/capi";

const machineRef = object({
  apiVersion: string({ maxLength: 253 }),
  kind: string({ maxLength: 63 }),
  namespace: string({ maxLength: 63 }),
  name: string({ maxLength: 253 }),
  uid: string({ maxLength: 64 }),
});

const spec = object({
  labels: optional(map(string(), { doc: "Free facts about the host for selectors; labels of the object serve too." })),
  machineRef: optional(machineRef),
  bootstrapSecret: optional(
    object({
      name: string({ doc: "Secret with the bootstrap data.", maxLength: 253 }),
      namespace: string({ maxLength: 63 }),
    }),
  ),
  providerID: optional(string({ doc: "What the Node must be registered with.", maxLength: 512 })),
  release: optional(
    object({
      machineUID: string({ doc: "The machine that is to be taken off this host.", maxLength: 64 }),
      requestedAt: time(),
    }),
  ),
  unschedulable: optional(boolean({ doc: "true: not given to new machines." })),
});

const step = object({
  name: string({ maxLength: 256 }),
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

/** A host of one's own: the manager writes metadata and spec, the agent on the host writes status. */
export const ByoHost = defineKind({
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ByoHost",
  plural: "byohosts",
  shortNames: ["byoh"],
  doc: "A host that its owner brings. Its agent reports what it is and runs what a machine that claimed it needs.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({ spec: optional(spec), status: optional(status) }),
  columns: [
    { name: "Machine", type: "string", jsonPath: ".spec.machineRef.name" },
    { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: "OSImage", type: "string", jsonPath: ".status.hostinfo.osimage" },
    { name: "Arch", type: "string", jsonPath: ".status.hostinfo.architecture" },
    { name: "Heartbeat", type: "date", jsonPath: ".status.lastHeartbeatTime" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type ByoHost = ObjectOf<typeof ByoHost>;
export type ByoHostStatus = NonNullable<ByoHost["status"]>;
