import { clusterClassAdmission } from "../admission/cluster-class.ts";
import { clusterClassV1Beta1 } from "../conversion/clusters.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { conditions, observedGeneration, templateMetadata, versionedReference } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, documented, integer, object, optional, string } from "../schema/schema.ts";
import { classPatches } from "./cluster-class-patches.ts";
import { classVariables, variablesStatus } from "./cluster-class-variables.ts";
import { ageColumn, conditionColumn, pausedColumn } from "./columns.ts";
import { controlPlaneHealthCheck, machineDeploymentHealthCheck } from "./health-checks.ts";
import { rolloutStrategy } from "./machine-deployment.ts";
import { deletionOrderField } from "./machine-set.ts";
import { availabilityGates, deletionTimeouts, machineDeletion, machineTaints, readinessGates } from "./machine-spec.ts";
import { deprecatedConditions } from "./shared-status.ts";

const naming = optional(
  object(
    { template: optional(string({ doc: "Go template of names.", minLength: 1, maxLength: 1024 })) },
    { doc: "How objects that are created from this template are named.", minProperties: 1 },
  ),
);

const template = object({ templateRef: documented(versionedReference, "Reference to the template object.") });
const className = string({ doc: "Name of the class, unique in its list.", minLength: 1, maxLength: 256 });
const minReadySeconds = optional(integer({ doc: "How long a Machine must be ready to be available.", minimum: 0 }));

const controlPlane = object(
  {
    metadata: optional(templateMetadata),
    templateRef: documented(versionedReference, "Reference to the template of the control plane object."),
    machineInfrastructure: optional(
      documented(
        template,
        "Template of the infrastructure of control plane Machines; only for control planes that consist of Machines.",
      ),
    ),
    healthCheck: optional(
      object(controlPlaneHealthCheck, {
        doc: "Default MachineHealthCheck of control plane Machines.",
        minProperties: 1,
      }),
    ),
    naming,
    deletion: optional(machineDeletion),
    taints: optional(machineTaints),
    readinessGates: optional(readinessGates),
  },
  { doc: "How control planes are created." },
);

const machineDeploymentClass = object(
  {
    metadata: optional(templateMetadata),
    class: className,
    bootstrap: documented(template, "Template of the bootstrap configuration of the Machines."),
    infrastructure: documented(template, "Template of the infrastructure of the Machines."),
    healthCheck: optional(
      object(machineDeploymentHealthCheck, { doc: "Default MachineHealthCheck of the Machines.", minProperties: 1 }),
    ),
    failureDomain: optional(string({ doc: "Failure domain of the Machines.", minLength: 1, maxLength: 256 })),
    naming,
    deletion: optional(
      object(
        { order: deletionOrderField, ...deletionTimeouts },
        {
          doc: "Which Machines are deleted first and how long the steps of their deletion may take.",
          minProperties: 1,
        },
      ),
    ),
    taints: optional(machineTaints),
    minReadySeconds,
    readinessGates: optional(readinessGates),
    rollout: optional(
      object(
        { strategy: optional(rolloutStrategy) },
        { doc: "How changes are rolled out to the Machines.", minProperties: 1 },
      ),
    ),
  },
  { doc: "A class that MachineDeployments of a topology refer to." },
);

const machinePoolClass = object(
  {
    metadata: optional(templateMetadata),
    class: className,
    bootstrap: documented(template, "Template of the bootstrap configuration of the instances."),
    infrastructure: documented(template, "Template of the infrastructure of the pool."),
    failureDomains: optional(
      array(string({ minLength: 1, maxLength: 256 }), {
        doc: "Failure domains of the instances.",
        maxItems: 100,
        listType: "atomic",
      }),
    ),
    naming,
    deletion: optional(machineDeletion),
    taints: optional(machineTaints),
    minReadySeconds,
  },
  { doc: "A class that MachinePools of a topology refer to." },
);

const classes: { minItems: number; maxItems: number; listType: "map"; keys: string[] } = {
  minItems: 1,
  maxItems: 100,
  listType: "map",
  keys: ["class"],
};

const spec = object(
  {
    availabilityGates: optional(availabilityGates),
    infrastructure: object(
      {
        templateRef: documented(versionedReference, "Reference to the template of the infrastructure cluster."),
        naming,
      },
      { doc: "How infrastructure clusters are created." },
    ),
    controlPlane,
    workers: optional(
      object(
        {
          machineDeployments: optional(
            array(machineDeploymentClass, { doc: "Classes of MachineDeployments.", ...classes }),
          ),
          machinePools: optional(array(machinePoolClass, { doc: "Classes of MachinePools.", ...classes })),
        },
        { doc: "Classes that workers of a topology can use.", minProperties: 1 },
      ),
    ),
    variables: optional(classVariables),
    patches: optional(classPatches),
    upgrade: optional(
      object(
        {
          external: optional(
            object(
              {
                generateUpgradePlanExtension: optional(
                  string({ doc: "Extension that plans upgrades.", minLength: 1, maxLength: 512 }),
                ),
              },
              { doc: "Extensions that take part in upgrades.", minProperties: 1 },
            ),
          ),
        },
        { doc: "How Clusters of this class upgrade to a new Kubernetes version.", minProperties: 1 },
      ),
    ),
    kubernetesVersions: optional(
      array(string({ minLength: 1, maxLength: 256 }), {
        doc: "Versions that upgrades go through, oldest first.",
        minItems: 1,
        maxItems: 100,
        listType: "atomic",
      }),
    ),
  },
  { doc: "Desired state of the ClusterClass." },
);

const status = object(
  {
    conditions: optional(conditions),
    variables: optional(variablesStatus),
    observedGeneration: optional(observedGeneration),
    deprecated: optional(deprecatedConditions),
  },
  { doc: "Observed state of the ClusterClass.", minProperties: 1 },
);

/** The v1beta2 schema of a ClusterClass's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({ spec, status: optional(status) });

/** A template for Clusters: Clusters with a topology are generated from its templates, variables and patches. */
export const ClusterClass = defineKind({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ClusterClass",
  plural: "clusterclasses",
  shortNames: ["cc"],
  doc: "A template for clusters: templates, variables and patches that Clusters with a topology are created from.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("cluster.x-k8s.io", "ClusterClass", schema, clusterClassV1Beta1)],
  admission: clusterClassAdmission,
  columns: [pausedColumn, conditionColumn("Variables Ready", "VariablesReady"), ageColumn],
});
export type ClusterClass = ObjectOf<typeof ClusterClass>;
