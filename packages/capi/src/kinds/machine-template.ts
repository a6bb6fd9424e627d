import { condition, templateMetadata } from "../schema/common.ts";
import { array, integer, map, object, optional, string } from "../schema/schema.ts";
import { machineSpec } from "./machine-spec.ts";
import { deprecatedStatus, versionCounts } from "./shared-status.ts";

/** What Machines are made from. */
export const machineTemplate = object({ metadata: optional(templateMetadata), spec: machineSpec });

export const labelSelector = object(
  {
    matchLabels: optional(map(string())),
    matchExpressions: optional(
      array(
        object({
          key: string(),
          operator: string({ enum: ["In", "NotIn", "Exists", "DoesNotExist"] }),
          values: optional(array(string())),
        }),
      ),
    ),
  },
  { doc: "Which objects are meant.", mapType: "atomic" },
);

export const machineNaming = object({
  template: optional(
    string({ doc: "Go template of Machine names; must contain {{ .random }}.", minLength: 1, maxLength: 256 }),
  ),
});

/** Status that MachineSets and MachineDeployments share. */
export const replicasStatus = {
  conditions: optional(array(condition, { listType: "map", keys: ["type"], maxItems: 32 })),
  selector: optional(string({ doc: "Selector as text, for the scale subresource.", maxLength: 4096 })),
  replicas: optional(integer({ doc: "Machines that exist." })),
  readyReplicas: optional(integer({ doc: "Machines with Ready True." })),
  availableReplicas: optional(integer({ doc: "Machines with Available True." })),
  upToDateReplicas: optional(integer({ doc: "Machines with UpToDate True." })),
  versions: optional(versionCounts),
  observedGeneration: optional(integer({ format: "int64", minimum: 1 })),
  deprecated: optional(deprecatedStatus),
};

/** Columns that MachineSets and MachineDeployments share. */
export const replicasColumns = [
  { name: "Desired", type: "integer", jsonPath: ".spec.replicas" },
  { name: "Current", type: "integer", jsonPath: ".status.replicas" },
  { name: "Ready", type: "integer", jsonPath: ".status.readyReplicas" },
  { name: "Available", type: "integer", jsonPath: ".status.availableReplicas" },
  { name: "Up-to-date", type: "integer", jsonPath: ".status.upToDateReplicas" },
] as const;
