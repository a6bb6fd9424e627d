import { machineHealthCheckAdmission } from "../admission/health-checks.ts";
import { machineHealthCheckV1Beta1 } from "../conversion/machines.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { clusterName, conditions, labelSelector, observedGeneration } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, integer, object, optional, string } from "../schema/schema.ts";
import { ageColumn, clusterColumn, pausedColumn } from "./columns.ts";
import { checks, remediationFields } from "./health-checks.ts";
import { deprecatedConditions } from "./shared-status.ts";

const spec = object(
  {
    clusterName,
    selector: labelSelector,
    checks: optional(checks),
    remediation: optional(
      object(remediationFields, { doc: "How unhealthy Machines are remediated.", minProperties: 1 }),
    ),
  },
  { doc: "Desired state of the MachineHealthCheck." },
);

const status = object(
  {
    conditions: optional(conditions),
    expectedMachines: optional(integer({ doc: "Machines that are watched.", minimum: 0 })),
    currentHealthy: optional(integer({ doc: "Machines that are healthy.", minimum: 0 })),
    remediationsAllowed: optional(integer({ doc: "How many more remediations are allowed.", minimum: 0 })),
    targets: optional(
      array(string({ minLength: 1, maxLength: 253 }), {
        doc: "Names of the watched Machines.",
        maxItems: 10000,
        listType: "atomic",
      }),
    ),
    observedGeneration: optional(observedGeneration),
    deprecated: optional(deprecatedConditions),
  },
  { doc: "Observed state of the MachineHealthCheck.", minProperties: 1 },
);

/** The v1beta2 schema of a MachineHealthCheck's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({ spec, status: optional(status) });

/** Marks unhealthy Machines for remediation. */
export const MachineHealthCheck = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "MachineHealthCheck",
  plural: "machinehealthchecks",
  shortNames: ["mhc", "mhcs"],
  doc: "Monitors Machines and requests the remediation of unhealthy ones.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("cluster.x-k8s.io", "MachineHealthCheck", schema, machineHealthCheckV1Beta1)],
  admission: machineHealthCheckAdmission,
  columns: [
    clusterColumn,
    { name: "Replicas", type: "integer", jsonPath: ".status.expectedMachines" },
    { name: "Healthy", type: "integer", jsonPath: ".status.currentHealthy" },
    pausedColumn,
    ageColumn,
  ],
});
export type MachineHealthCheck = ObjectOf<typeof MachineHealthCheck>;
