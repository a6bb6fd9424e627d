import { condition } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, integer, intOrString, object, optional, string } from "../schema/schema.ts";
import { labelSelector } from "./machine-template.ts";
import { deprecatedStatus } from "./shared-status.ts";

const status = string({ doc: "Status that counts as unhealthy.", enum: ["True", "False", "Unknown"] });
const timeoutSeconds = integer({ doc: "How long it may last.", minimum: 0 });

export const unhealthyNodeConditions = array(
  object({ type: string({ doc: "Condition of the Node.", minLength: 1, maxLength: 316 }), status, timeoutSeconds }),
  { doc: "Conditions of Nodes that make their Machines unhealthy.", minItems: 1, maxItems: 100 },
);

/** Conditions that follow from health checks, or sum up others, cannot be checked themselves. */
const NOT_CHECKED = ["Ready", "Available", "HealthCheckSucceeded", "OwnerRemediated", "ExternallyRemediated"];

export const unhealthyMachineConditions = array(
  object({
    type: string({
      doc: "Condition of the Machine.",
      minLength: 1,
      maxLength: 316,
      rules: [
        {
          rule: `!(self in [${NOT_CHECKED.map((name) => `'${name}'`).join(",")}])`,
          message: `type must not be one of: ${NOT_CHECKED.join(", ")}`,
        },
      ],
    }),
    status,
    timeoutSeconds,
  }),
  { doc: "Conditions that make Machines unhealthy.", minItems: 1, maxItems: 100 },
);

export const healthChecks = object(
  {
    nodeStartupTimeoutSeconds: optional(
      integer({ doc: "How long a Machine may take to have a Node; 0: as long as it takes; absent: 600.", minimum: 0 }),
    ),
    unhealthyNodeConditions: optional(unhealthyNodeConditions),
    unhealthyMachineConditions: optional(unhealthyMachineConditions),
  },
  { doc: "What makes a Machine unhealthy.", minProperties: 1 },
);

export const remediationTriggers = object(
  {
    unhealthyLessThanOrEqualTo: optional(
      intOrString({ doc: "Repair only while at most so many are unhealthy; absent: 100%." }),
    ),
    unhealthyInRange: optional(
      string({
        doc: "Repair only while the number of unhealthy Machines is in this range, such as [3-5].",
        minLength: 1,
        maxLength: 32,
        pattern: String.raw`^\[[0-9]+-[0-9]+\]$`,
      }),
    ),
  },
  { doc: "When repairing is allowed.", minProperties: 1 },
);

export const remediationTemplateReference = object({
  kind: string({ doc: "Kind of the template.", minLength: 1, maxLength: 63 }),
  name: string({ doc: "Name of the template, in the same namespace.", minLength: 1, maxLength: 253 }),
  apiVersion: string({ doc: "Group and version of the template.", minLength: 1, maxLength: 317 }),
});

const spec = object({
  clusterName: string({ doc: "Cluster whose Machines are checked.", minLength: 1, maxLength: 63 }),
  selector: labelSelector,
  checks: optional(healthChecks),
  remediation: optional(
    object(
      { triggerIf: optional(remediationTriggers), templateRef: optional(remediationTemplateReference) },
      { doc: "When and how unhealthy Machines are repaired.", minProperties: 1 },
    ),
  ),
});

const machineHealthCheckStatus = object(
  {
    conditions: optional(array(condition, { listType: "map", keys: ["type"], maxItems: 32 })),
    expectedMachines: optional(integer({ doc: "Machines that are checked.", minimum: 0 })),
    currentHealthy: optional(integer({ doc: "Of these, the healthy ones.", minimum: 0 })),
    remediationsAllowed: optional(integer({ doc: "How many more may be repaired.", minimum: 0 })),
    observedGeneration: optional(integer({ format: "int64", minimum: 1 })),
    targets: optional(array(string({ minLength: 1, maxLength: 253 }), { doc: "Names of the Machines.", maxItems: 10_000 })),
    deprecated: optional(deprecatedStatus),
  },
  { minProperties: 1 },
);

export const MachineHealthCheck = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineHealthCheck",
  plural: "machinehealthchecks",
  shortNames: ["mhc", "mhcs"],
  doc: "Finds unhealthy Machines and has them repaired or replaced.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({ spec, status: optional(machineHealthCheckStatus) }),
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" },
    { name: "Replicas", type: "integer", jsonPath: ".status.expectedMachines" },
    { name: "Healthy", type: "integer", jsonPath: ".status.currentHealthy" },
    { name: "Paused", type: "string", jsonPath: '.status.conditions[?(@.type=="Paused")].status', priority: 10 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type MachineHealthCheck = ObjectOf<typeof MachineHealthCheck>;
