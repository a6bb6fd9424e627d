import {
  array,
  boolean,
  condition,
  defineKind,
  documented,
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

const machineRef = object(
  {
    apiVersion: string({ doc: "API version of the machine.", maxLength: 253 }),
    kind: string({ doc: "Kind of the machine.", maxLength: 63 }),
    namespace: string({ doc: "Namespace of the machine.", maxLength: 63 }),
    name: string({ doc: "Name of the machine.", maxLength: 253 }),
    uid: string({ doc: "UID of the machine.", maxLength: 64 }),
  },
  { doc: "Reference to the ByoMachine that has claimed the host; absent while the host is free." },
);

const secretRef = (doc: string) =>
  object({
    name: string({ doc, maxLength: 253 }),
    namespace: string({ doc: "Namespace of the Secret.", maxLength: 63 }),
  });

const spec = object(
  {
    labels: optional(
      map(string(), { doc: "Arbitrary facts about the host for selectors; labels of the object can be selected too." }),
    ),
    machineRef: optional(machineRef),
    bootstrapSecret: optional(
      documented(
        secretRef("Secret with the bootstrap data."),
        "Reference to the Secret with the bootstrap data of the claiming machine.",
      ),
    ),
    installationSecret: optional(
      documented(
        secretRef("Secret with the instructions to install Kubernetes on the host."),
        "Reference to the Secret with the instructions to install Kubernetes on the host.",
      ),
    ),
    providerID: optional(string({ doc: "Provider ID with which the Node must be registered.", maxLength: 512 })),
    release: optional(
      object(
        {
          machineUID: string({ doc: "UID of the machine to remove from this host.", maxLength: 64 }),
          requestedAt: time({ doc: "Time when the release was requested." }),
          clusterName: optional(string({ doc: "Name of the Cluster that the host was a node of.", maxLength: 63 })),
          providerID: optional(
            string({ doc: "Provider ID of the Node that must be deleted before the host is free.", maxLength: 512 }),
          ),
        },
        { doc: "Request to the agent to remove a machine from the host." },
      ),
    ),
    unschedulable: optional(boolean({ doc: "Whether new machines may not claim the host." })),
  },
  { doc: "Desired state of the ByoHost." },
);

const step = object(
  {
    name: string({ doc: "Name of the step.", maxLength: 256 }),
    startedAt: optional(time({ doc: "Time when the step started." })),
    exitCode: optional(integer({ doc: "Exit code of the step; absent while it runs." })),
    seconds: optional(integer({ doc: "Duration of the step in seconds; absent while it runs.", minimum: 0 })),
    output: optional(string({ doc: "End of the output, without secrets.", maxLength: 4096 })),
  },
  { doc: "One command that the agent ran." },
);

const status = object(
  {
    conditions: optional(
      array(condition, { doc: "Conditions of the ByoHost.", listType: "map", keys: ["type"], maxItems: 32 }),
    ),
    hostinfo: optional(
      object(
        {
          osname: optional(string({ doc: "Operating system of the host, such as linux.", maxLength: 64 })),
          osimage: optional(string({ doc: "Name and release of the operating system.", maxLength: 256 })),
          architecture: optional(string({ doc: "CPU architecture of the host.", maxLength: 32 })),
          hostname: optional(string({ doc: "Host name of the host.", maxLength: 253 })),
          kernel: optional(string({ doc: "Version of the kernel.", maxLength: 256 })),
          cpus: optional(integer({ doc: "Number of logical CPUs.", minimum: 0 })),
          memoryMiB: optional(integer({ doc: "Size of the memory in MiB.", minimum: 0 })),
          disks: optional(
            array(
              object(
                {
                  name: string({ doc: "Name of the device.", maxLength: 64 }),
                  sizeGiB: optional(integer({ doc: "Size of the disk in GiB.", minimum: 0 })),
                  rotational: optional(boolean({ doc: "Whether the disk is a rotating disk." })),
                  model: optional(string({ doc: "Model of the disk.", maxLength: 256 })),
                },
                { doc: "One disk." },
              ),
              { doc: "Disks of the host.", maxItems: 64 },
            ),
          ),
          kubeletVersion: optional(
            string({ doc: "Version of the kubelet on the host, if there is one.", maxLength: 64 }),
          ),
          swap: optional(boolean({ doc: "Whether swap is enabled on the host." })),
        },
        { doc: "Facts about the host." },
      ),
    ),
    network: optional(
      array(
        object(
          {
            networkInterfaceName: string({ doc: "Name of the interface.", maxLength: 64 }),
            isDefault: optional(boolean({ doc: "Whether the default route uses the interface." })),
            connected: optional(boolean({ doc: "Whether the interface is connected." })),
            macAddr: optional(string({ doc: "MAC address of the interface.", maxLength: 64 })),
            ipAddrs: optional(
              array(string({ maxLength: 64 }), { doc: "IP addresses of the interface.", maxItems: 64 }),
            ),
          },
          { doc: "One network interface." },
        ),
        { doc: "Network interfaces of the host.", maxItems: 64 },
      ),
    ),
    agentVersion: optional(string({ doc: "Version of the agent.", maxLength: 64 })),
    machineID: optional(
      string({ doc: "Machine ID of the operating system; it identifies the host across restarts.", maxLength: 64 }),
    ),
    lastHeartbeatTime: optional(time({ doc: "Time when the agent last reported." })),
    certificateExpiresAt: optional(
      time({ doc: "Time when the agent's certificate expires; the agent renews it well before." }),
    ),
    bootstrap: optional(
      object(
        {
          machineUID: string({ doc: "UID of the machine that is bootstrapped.", maxLength: 64 }),
          phase: string({ doc: "Phase of the bootstrap.", enum: ["Running", "Succeeded", "Failed"] }),
          message: optional(string({ doc: "Human-readable details of a failure.", maxLength: 4096 })),
          holdsEtcdMember: optional(
            boolean({
              doc: "Whether the host was left as it is after a failure, because it holds a member of etcd that only the control plane may remove.",
            }),
          ),
          steps: optional(array(step, { doc: "Steps of the bootstrap, oldest first.", maxItems: 64 })),
        },
        { doc: "Progress of the bootstrap of the claiming machine." },
      ),
    ),
    release: optional(
      object(
        {
          machineUID: string({ doc: "UID of the machine that is removed from the host.", maxLength: 64 }),
          phase: string({ doc: "Phase of the release.", enum: ["Running", "Released", "Failed"] }),
          message: optional(string({ doc: "Human-readable details of a failure.", maxLength: 4096 })),
        },
        { doc: "Progress of the requested release." },
      ),
    ),
  },
  { doc: "Observed state of the ByoHost, written by its agent." },
);

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
  doc: "A bring-your-own host. Its agent reports its facts and bootstraps it for the machine that has claimed it.",
  // Hosts have no owner, and move with their cluster.
  labels: { "clusterctl.cluster.x-k8s.io/move-hierarchy": "" },
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  columns,
  others: [v1beta1(INFRASTRUCTURE_GROUP, "ByoHost", schema, { rules: BYO_HOST_V1BETA1, columns })],
});
export type ByoHost = ObjectOf<typeof ByoHost>;
/** Status of a ByoHost as its agent reports it. */
export type ByoHostStatus = NonNullable<ByoHost["status"]>;
