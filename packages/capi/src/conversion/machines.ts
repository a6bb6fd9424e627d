import type { PrinterColumnDefinition } from "../schema/kind.ts";
import { integer } from "../schema/schema.ts";
import { nodeReference } from "./codecs.ts";
import { move, newOnly, oldOnly, optionalInOld, type Rule, recode, under } from "./rules.ts";
import { CONDITIONS, counters, FAILURE, healthCheck, MACHINE_SPEC, rolloutStrategy } from "./shared-rules.ts";

type Column = PrinterColumnDefinition;
const cluster: Column = { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" };
const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
const phase: Column = { name: "Phase", type: "string", jsonPath: ".status.phase" };
const desired: Column = { name: "Desired", type: "integer", jsonPath: ".spec.replicas", priority: 10 };
const templateVersion: Column = { name: "Version", type: "string", jsonPath: ".spec.template.spec.version" };
const replicas: Column = { name: "Replicas", type: "integer", jsonPath: ".status.replicas" };
const ready: Column = { name: "Ready", type: "integer", jsonPath: ".status.readyReplicas" };

const initialization: readonly Rule[] = [
  move("status.infrastructureReady", "status.initialization.infrastructureProvisioned"),
  move("status.bootstrapReady", "status.initialization.bootstrapDataSecretCreated"),
];

/** Machines made from a template: `minReadySeconds` was next to them. */
const template: readonly Rule[] = [
  move("spec.minReadySeconds", "spec.template.spec.minReadySeconds"),
  ...under("spec.template.spec", MACHINE_SPEC),
];

/** Machine. */
export const machineV1Beta1 = {
  rules: [
    ...CONDITIONS,
    ...FAILURE,
    ...initialization,
    ...under("spec", MACHINE_SPEC),
    recode("status.nodeRef", nodeReference),
    newOnly("spec.minReadySeconds"),
    newOnly("status.failureDomain"),
  ],
  columns: [
    cluster,
    { name: "NodeName", type: "string", jsonPath: ".status.nodeRef.name" },
    { name: "ProviderID", type: "string", jsonPath: ".spec.providerID" },
    phase,
    age,
    { name: "Version", type: "string", jsonPath: ".spec.version" },
  ] satisfies Column[],
};

/** MachineSet. */
export const machineSetV1Beta1 = {
  rules: [
    ...CONDITIONS,
    ...FAILURE,
    ...counters(
      ["fullyLabeledReplicas", "readyReplicas", "availableReplicas"],
      ["readyReplicas", "availableReplicas", "upToDateReplicas"],
    ),
    ...template,
    move("spec.deletePolicy", "spec.deletion.order"),
    move("spec.machineNamingStrategy", "spec.machineNaming"),
    optionalInOld("spec.template"),
  ],
  columns: [
    cluster,
    desired,
    replicas,
    ready,
    { name: "Available", type: "integer", jsonPath: ".status.availableReplicas" },
    age,
    templateVersion,
  ] satisfies Column[],
};

/** MachineDeployment. */
export const machineDeploymentV1Beta1 = {
  rules: [
    ...CONDITIONS,
    ...counters(
      ["updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"],
      ["readyReplicas", "availableReplicas", "upToDateReplicas"],
    ),
    ...template,
    ...under("spec", rolloutStrategy("remediation.maxInFlight")),
    move("spec.rolloutAfter", "spec.rollout.after"),
    move("spec.machineNamingStrategy", "spec.machineNaming"),
    oldOnly("spec.progressDeadlineSeconds", integer()),
    oldOnly("spec.revisionHistoryLimit", integer()),
  ],
  columns: [
    cluster,
    desired,
    replicas,
    ready,
    { name: "Updated", type: "integer", jsonPath: ".status.updatedReplicas" },
    { name: "Unavailable", type: "integer", jsonPath: ".status.unavailableReplicas" },
    phase,
    age,
    templateVersion,
  ] satisfies Column[],
};

/** MachinePool. */
export const machinePoolV1Beta1 = {
  rules: [
    ...CONDITIONS,
    ...FAILURE,
    ...initialization,
    ...counters(
      ["readyReplicas", "availableReplicas", "unavailableReplicas"],
      ["readyReplicas", "availableReplicas", "upToDateReplicas"],
    ),
    ...template,
  ],
  columns: [
    cluster,
    desired,
    { name: "Replicas", type: "string", jsonPath: ".status.replicas" },
    phase,
    age,
    templateVersion,
  ] satisfies Column[],
};

/** MachineHealthCheck. */
export const machineHealthCheckV1Beta1 = {
  rules: [...CONDITIONS, ...healthCheck("spec", "spec")],
  columns: [
    cluster,
    { name: "ExpectedMachines", type: "integer", jsonPath: ".status.expectedMachines" },
    { name: "MaxUnhealthy", type: "string", jsonPath: ".spec.maxUnhealthy" },
    { name: "CurrentHealthy", type: "integer", jsonPath: ".status.currentHealthy" },
    age,
  ] satisfies Column[],
};
