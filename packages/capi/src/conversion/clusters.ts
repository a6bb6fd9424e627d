import type { PrinterColumnDefinition } from "../schema/kind.ts";
import { string, time } from "../schema/schema.ts";
import { emptyText, list, mapToList, reference, versionedReference } from "./codecs.ts";
import { move, oldOnly, type Rule, recode, under } from "./rules.ts";
import { CONDITIONS, FAILURE, healthCheck, rolloutStrategy, TIMEOUTS } from "./shared-rules.ts";

type Column = PrinterColumnDefinition;

const variables = list([oldOnly("definitionFrom", string({ maxLength: 256 }))]);

/** A group of workers: where its health check and its rollout went. */
const machineDeployment: readonly Rule[] = [
  ...healthCheck("machineHealthCheck", "healthCheck"),
  ...rolloutStrategy("healthCheck.remediation.maxInFlight"),
  ...TIMEOUTS,
];

const topology: readonly Rule[] = [
  move("class", "classRef.name"),
  move("classNamespace", "classRef.namespace"),
  recode("variables", variables),
  oldOnly("rolloutAfter", time()),
  ...under("controlPlane", [
    move("machineHealthCheck.enable", "healthCheck.enabled"),
    ...healthCheck("machineHealthCheck", "healthCheck"),
    ...TIMEOUTS,
    recode("variables.overrides", variables),
  ]),
  recode(
    "workers.machineDeployments",
    list([
      move("machineHealthCheck.enable", "healthCheck.enabled"),
      ...machineDeployment,
      recode("variables.overrides", variables),
    ]),
  ),
  recode("workers.machinePools", list([...TIMEOUTS, recode("variables.overrides", variables)])),
];

/** Cluster. */
export const clusterV1Beta1 = {
  rules: [
    ...CONDITIONS,
    ...FAILURE,
    move("status.v1beta2.controlPlane", "status.controlPlane"),
    move("status.v1beta2.workers", "status.workers"),
    move("status.infrastructureReady", "status.initialization.infrastructureProvisioned"),
    move("status.controlPlaneReady", "status.initialization.controlPlaneInitialized"),
    recode("status.failureDomains", mapToList()),
    recode("spec.controlPlaneEndpoint.host", emptyText),
    recode("spec.controlPlaneRef", reference),
    recode("spec.infrastructureRef", reference),
    ...under("spec.topology", topology),
  ],
  columns: [
    { name: "ClusterClass", type: "string", jsonPath: ".spec.topology.class" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Version", type: "string", jsonPath: ".spec.topology.version" },
  ] satisfies Column[],
};

/** Templates of a class's workers were one level deeper. */
const workerTemplate: readonly Rule[] = [
  move("template.metadata", "metadata"),
  move("template.bootstrap.ref", "bootstrap.templateRef", versionedReference),
  move("template.infrastructure.ref", "infrastructure.templateRef", versionedReference),
  move("namingStrategy", "naming"),
];

const variableMetadata = move("metadata", "deprecatedV1Beta1Metadata");

/** ClusterClass. */
export const clusterClassV1Beta1 = {
  rules: [
    ...CONDITIONS,
    move("spec.infrastructureNamingStrategy", "spec.infrastructure.naming"),
    move("spec.infrastructure.ref", "spec.infrastructure.templateRef", versionedReference),
    ...under("spec.controlPlane", [
      move("ref", "templateRef", versionedReference),
      move("machineInfrastructure.ref", "machineInfrastructure.templateRef", versionedReference),
      move("namingStrategy", "naming"),
      ...healthCheck("machineHealthCheck", "healthCheck"),
      ...TIMEOUTS,
    ]),
    recode("spec.workers.machineDeployments", list([...machineDeployment, ...workerTemplate])),
    recode("spec.workers.machinePools", list([...TIMEOUTS, ...workerTemplate])),
    recode("spec.variables", list([variableMetadata])),
    recode("status.variables", list([recode("definitions", list([variableMetadata]))])),
    recode(
      "spec.patches",
      list([
        move("external.generateExtension", "external.generatePatchesExtension"),
        move("external.validateExtension", "external.validateTopologyExtension"),
      ]),
    ),
  ],
  columns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }] satisfies Column[],
};
