import { array, condition, defineKind, integer, type ObjectOf, object, optional, string } from "@capstan/capi";
import { backupFields, backupStatusFields } from "@capstan/controlplane";

const spec = object(
  {
    clusterName: string({
      doc: "Cluster whose control plane on Machines is backed up.",
      minLength: 1,
      maxLength: 63,
      rules: [{ rule: "self == oldSelf", message: "clusterName is immutable" }],
    }),
    ...backupFields,
  },
  { doc: "When backups of etcd are taken and where they are stored." },
);

const status = object(
  {
    conditions: optional(
      array(condition, {
        doc: "Conditions of the ControlPlaneBackup.",
        listType: "map",
        keys: ["type"],
        maxItems: 32,
      }),
    ),
    ...backupStatusFields,
    observedGeneration: optional(
      integer({ doc: "Generation of the spec that the status was computed from.", format: "int64", minimum: 1 }),
    ),
  },
  { doc: "Observed state of the ControlPlaneBackup." },
);

/** Backups of the etcd of a control plane on Machines; a HostedControlPlane has the same settings in its own spec. */
export const ControlPlaneBackup = defineKind({
  group: "capstan.dev",
  version: "v1alpha1",
  kind: "ControlPlaneBackup",
  plural: "controlplanebackups",
  shortNames: ["cpb"],
  categories: ["cluster-api", "capstan"],
  doc: "Backups of the etcd of a control plane on Machines: when they are taken, how many are kept, and where.",
  schema: object({ spec, status: optional(status) }),
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" },
    { name: "Schedule", type: "string", jsonPath: ".spec.schedule" },
    { name: "Last", type: "string", jsonPath: ".status.lastName" },
    { name: "Next", type: "string", jsonPath: ".status.nextTime", priority: 1 },
    { name: "Count", type: "integer", jsonPath: ".status.count" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type ControlPlaneBackup = ObjectOf<typeof ControlPlaneBackup>;
