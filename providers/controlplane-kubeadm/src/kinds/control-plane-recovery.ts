import {
  array,
  boolean,
  condition,
  defineKind,
  type Infer,
  integer,
  type ObjectOf,
  object,
  optional,
  string,
} from "@capstan/capi";

/** Length of the digest of a plan. */
export const PLAN_DIGEST_LENGTH = 12;

const spec = object(
  {
    clusterName: string({
      doc: "Cluster whose control plane is recovered.",
      minLength: 1,
      maxLength: 63,
      rules: [{ rule: "self == oldSelf", message: "clusterName is immutable" }],
    }),
    backup: optional(
      string({
        doc: "Name of the backup to restore; absent: the member of etcd with the newest data, or the newest backup if no member answers.",
        pattern: "^[0-9]{8}T[0-9]{6}Z(-[a-z0-9.-]+)?$",
        maxLength: 128,
        rules: [{ rule: "self == oldSelf", message: "backup is immutable: create another ControlPlaneRecovery" }],
      }),
    ),
    approved: optional(
      boolean({
        doc: "Set to true after reading status.plan: all control plane Machines are deleted then, and their etcd is restored as the plan says.",
        rules: [
          { rule: "self || !oldSelf", message: "an approved recovery cannot be stopped by withdrawing the approval" },
        ],
      }),
    ),
    approvedPlan: optional(
      string({
        doc: "The status.plan.digest of the plan that spec.approved is meant for. With another plan the recovery waits; absent: the plan of the moment, as long as it restores the same data as the one before.",
        maxLength: PLAN_DIGEST_LENGTH,
      }),
    ),
  },
  { doc: "Which control plane is recovered, and from what." },
);

const names = (doc: string) => optional(array(string({ maxLength: 253 }), { doc, listType: "atomic", maxItems: 32 }));

const plan = object(
  {
    source: string({ doc: "Where the data comes from.", enum: ["Member", "Backup"] }),
    member: optional(string({ doc: "Machine whose member of etcd has the data.", maxLength: 253 })),
    backup: optional(string({ doc: "Backup that has the data.", maxLength: 128 })),
    revision: optional(string({ doc: "Revision of etcd that is restored.", maxLength: 32 })),
    dataFrom: optional(string({ doc: "Time of the data. Later writes are lost.", maxLength: 64 })),
    lost: names("Machines whose member does not answer the manager."),
    alive: names("Machines whose member answers the manager."),
    digest: optional(
      string({ doc: "Identifies the plan in spec.approvedPlan; changes with it.", maxLength: PLAN_DIGEST_LENGTH }),
    ),
  },
  { doc: "What the recovery will do." },
);

const status = object(
  {
    conditions: optional(
      array(condition, {
        doc: "Conditions of the ControlPlaneRecovery.",
        listType: "map",
        keys: ["type"],
        maxItems: 32,
      }),
    ),
    phase: optional(
      string({
        doc: "How far the recovery is.",
        enum: [
          "Planning",
          "WaitingForApproval",
          "Saving",
          "Verifying",
          "Removing",
          "Starting",
          "Scaling",
          "Done",
          "Refused",
        ],
      }),
    ),
    plan: optional(plan),
    savedBackup: optional(string({ doc: "Backup that the new control plane is restored from.", maxLength: 128 })),
    snapshotDigest: optional(
      string({ doc: "SHA-256 of the snapshot, which was verified before Machines were deleted.", maxLength: 64 }),
    ),
    machine: optional(string({ doc: "First Machine of the recovered control plane.", maxLength: 253 })),
    observedGeneration: optional(
      integer({ doc: "Generation of the spec that the status was computed from.", format: "int64", minimum: 1 }),
    ),
  },
  { doc: "Observed state of the ControlPlaneRecovery." },
);

/** What a recovery will do, as its status describes it. */
export type RecoveryPlan = Infer<typeof plan>;

/** Recovers a control plane on Machines whose etcd has lost its quorum. Only people create it. */
export const ControlPlaneRecovery = defineKind({
  group: "capstan.dev",
  version: "v1alpha1",
  kind: "ControlPlaneRecovery",
  plural: "controlplanerecoveries",
  shortNames: ["cpr"],
  categories: ["cluster-api", "capstan"],
  doc: "Recovers a control plane on Machines whose etcd has lost its quorum: from a surviving member or a backup onto a new first Machine, and then back to the desired replicas.",
  schema: object({ spec, status: optional(status) }),
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Source", type: "string", jsonPath: ".status.plan.source" },
    { name: "Approved", type: "boolean", jsonPath: ".spec.approved" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type ControlPlaneRecovery = ObjectOf<typeof ControlPlaneRecovery>;
