import { condition, contractReference, templateMetadata } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, documented, integer, object, optional, string, time } from "../schema/schema.ts";

const member = object(
  {
    name: string({
      doc: "Name of the member; its MachineDeployment is named POOL-NAME.",
      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
      maxLength: 40,
    }),
    min: optional(integer({ doc: "Minimum number of machines.", minimum: 0, default: 0 })),
    max: optional(integer({ doc: "Maximum number of machines.", minimum: 0 })),
    cost: optional(
      string({
        doc: "Price of one machine, a decimal number; used by Cheapest.",
        pattern: String.raw`^\d+(\.\d+)?$`,
        maxLength: 32,
      }),
    ),
    weight: optional(integer({ doc: "Share of the replicas; used by Weighted.", minimum: 0, maximum: 1000 })),
    failureDomain: optional(string({ doc: "Failure domain of its machines.", maxLength: 256 })),
    infrastructureRef: documented(contractReference, "Reference to the template of the infrastructure machines."),
    bootstrap: object(
      { configRef: documented(contractReference, "Reference to the template of the bootstrap configuration.") },
      { doc: "Source of the bootstrap data of the machines." },
    ),
  },
  { doc: "A source of machines, backed by one MachineDeployment." },
);

const spec = object(
  {
    clusterName: string({
      doc: "Cluster that the machines belong to.",
      minLength: 1,
      maxLength: 63,
      rules: [{ rule: "self == oldSelf", message: "clusterName is immutable" }],
    }),
    replicas: optional(integer({ doc: "Number of machines of all members together.", minimum: 0, default: 1 })),
    strategy: optional(
      string({
        doc: "Cheapest: by cost, then list order. Ordered: list order. Weighted: by weight.",
        enum: ["Cheapest", "Ordered", "Weighted"],
        default: "Cheapest",
      }),
    ),
    template: object(
      {
        metadata: optional(templateMetadata),
        spec: object(
          {
            version: optional(string({ doc: "Kubernetes version of the nodes.", minLength: 1, maxLength: 256 })),
          },
          { doc: "Desired state of the machines of all members." },
        ),
      },
      { doc: "Settings that all members share." },
    ),
    overflow: optional(
      object(
        {
          afterSeconds: optional(
            integer({
              doc: "A machine that is not available after this time counts as one that its member cannot provide.",
              minimum: 1,
              default: 600,
            }),
          ),
          returnAfterSeconds: optional(
            integer({
              doc: "How long a member must be healthy before replicas return to it.",
              minimum: 0,
              default: 900,
            }),
          ),
          maxUnavailable: optional(
            integer({
              doc: "How many machines may be missing in a pool that is Available, and how many move between members at a time, at least one. A working machine is deleted only once its replacement works, so the pool is larger by that many meanwhile.",
              minimum: 0,
              default: 1,
            }),
          ),
        },
        { doc: "When replicas move to another member and when they return." },
      ),
    ),
    members: array(member, {
      doc: "Sources of machines.",
      minItems: 1,
      maxItems: 20,
      listType: "map",
      keys: ["name"],
    }),
  },
  { doc: "Desired state of the WorkerPool." },
);

const memberStatus = object(
  {
    name: string({ doc: "Name of the member.", maxLength: 40 }),
    desired: integer({ doc: "Number of machines that the pool assigns to the member." }),
    current: integer({ doc: "Number of machines that the member has." }),
    available: integer({ doc: "Number of machines of the member that are available." }),
    upToDate: optional(integer({ doc: "Machines whose condition UpToDate is True." })),
    state: string({
      doc: "Whether the member gets machines: Active accepts more, Full has no capacity left, Unhealthy fails to deliver working machines, CoolingDown has recovered and waits for overflow.returnAfterSeconds.",
      enum: ["Active", "Full", "Unhealthy", "CoolingDown"],
    }),
    cause: optional(
      string({
        doc: "Why it cools down: it had no capacity left (Full), its Machines joined and broke later (Broken), or they failed to join (Unhealthy). After Full and Broken, capacity that its provider announces is used immediately.",
        enum: ["Full", "Broken", "Unhealthy"],
      }),
    ),
    reason: optional(
      string({ doc: "Machine-readable reason for the state; absent while there is no problem.", maxLength: 256 }),
    ),
    message: optional(
      string({ doc: "Human-readable explanation of the state; absent while there is no problem.", maxLength: 4096 }),
    ),
    since: time({ doc: "Time when the member entered the state." }),
  },
  { doc: "Observed state of one member." },
);

const status = object(
  {
    conditions: optional(
      array(condition, { doc: "Conditions of the WorkerPool.", listType: "map", keys: ["type"], maxItems: 32 }),
    ),
    replicas: optional(integer({ doc: "Number of machines that exist in all members." })),
    readyReplicas: optional(integer({ doc: "Number of machines that are ready in all members." })),
    availableReplicas: optional(integer({ doc: "Number of machines that are available in all members." })),
    upToDateReplicas: optional(integer({ doc: "Machines whose condition UpToDate is True." })),
    selector: optional(
      string({ doc: "Label selector of the machines as text, for the scale subresource.", maxLength: 4096 }),
    ),
    lastRetry: optional(
      string({ doc: "The last value of annotation capstan.dev/retry-at that ended cool-downs.", maxLength: 64 }),
    ),
    members: optional(
      array(memberStatus, { doc: "Observed state of each member.", listType: "map", keys: ["name"], maxItems: 20 }),
    ),
    observedGeneration: optional(
      integer({ doc: "Generation of the spec that the status was computed from.", format: "int64", minimum: 1 }),
    ),
  },
  { doc: "Observed state of the WorkerPool." },
);

/** On a WorkerPool: every new value, such as the time, ends the cool-down of its members. */
export const RETRY_ANNOTATION = "capstan.dev/retry-at";

/** One replica count over several providers. */
export const WorkerPool = defineKind({
  group: "capstan.dev",
  version: "v1alpha1",
  kind: "WorkerPool",
  plural: "workerpools",
  shortNames: ["wp"],
  categories: ["cluster-api", "capstan"],
  doc: "One replica count over several providers: overflows to the next when one has no capacity, is unhealthy or too slow, and returns when it recovers.",
  schema: object({ spec, status: optional(status) }),
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" },
    { name: "Desired", type: "integer", jsonPath: ".spec.replicas" },
    { name: "Current", type: "integer", jsonPath: ".status.replicas" },
    { name: "Available", type: "integer", jsonPath: ".status.availableReplicas" },
    { name: "Strategy", type: "string", jsonPath: ".spec.strategy", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Version", type: "string", jsonPath: ".spec.template.spec.version" },
  ],
});
export type WorkerPool = ObjectOf<typeof WorkerPool>;
