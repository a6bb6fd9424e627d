import { namespaceName, objectName, templateMetadata } from "../schema/common.ts";
import { SUBDOMAIN } from "../schema/patterns.ts";
import { anything, array, integer, object, optional, string, time } from "../schema/schema.ts";
import { controlPlaneHealthCheck, healthCheckEnabled, machineDeploymentHealthCheck } from "./health-checks.ts";
import { rollout } from "./machine-deployment.ts";
import { deletionOrderField } from "./machine-set.ts";
import { deletionTimeouts, machineDeletion, machineTaints, readinessGates } from "./machine-spec.ts";

const variables = (doc: string) =>
  array(
    object(
      {
        name: string({ doc: "Name of the variable.", minLength: 1, maxLength: 256 }),
        value: anything({ doc: "Its value, any JSON." }),
      },
      { doc: "Value of one variable." },
    ),
    { doc, minItems: 1, maxItems: 1000, listType: "map", keys: ["name"] },
  );

const overrides = optional(
  object(
    { overrides: optional(variables("Values that take precedence over those of the cluster.")) },
    { doc: "Variables of this part of the topology.", minProperties: 1 },
  ),
);

const replicas = optional(integer({ doc: "Machines wanted." }));
const minReadySeconds = optional(integer({ doc: "How long a Machine must be ready to be available.", minimum: 0 }));

const topologyName = string({
  doc: "Name of this group, unique in the cluster.",
  minLength: 1,
  maxLength: 63,
  pattern: SUBDOMAIN,
});

const className = string({ doc: "Class of the ClusterClass that it is created from.", minLength: 1, maxLength: 256 });

const controlPlane = object(
  {
    metadata: optional(templateMetadata),
    replicas,
    rollout: optional(
      object(
        { after: optional(time({ doc: "Machines older than this are replaced." })) },
        { doc: "When control plane Machines are replaced.", minProperties: 1 },
      ),
    ),
    healthCheck: optional(
      object(
        { ...healthCheckEnabled, ...controlPlaneHealthCheck },
        {
          doc: "MachineHealthCheck of the control plane; values set here replace those of the class.",
          minProperties: 1,
        },
      ),
    ),
    deletion: optional(machineDeletion),
    taints: optional(machineTaints),
    readinessGates: optional(readinessGates),
    variables: overrides,
  },
  { doc: "The control plane.", minProperties: 1 },
);

const machineDeployment = object(
  {
    metadata: optional(templateMetadata),
    class: className,
    name: topologyName,
    failureDomain: optional(string({ doc: "Failure domain of its Machines.", minLength: 1, maxLength: 256 })),
    replicas,
    healthCheck: optional(
      object(
        { ...healthCheckEnabled, ...machineDeploymentHealthCheck },
        { doc: "MachineHealthCheck of the Machines; values set here replace those of the class.", minProperties: 1 },
      ),
    ),
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
    rollout: optional(rollout),
    variables: overrides,
  },
  { doc: "One MachineDeployment of the topology." },
);

const machinePool = object(
  {
    metadata: optional(templateMetadata),
    class: className,
    name: topologyName,
    failureDomains: optional(
      array(string({ minLength: 1, maxLength: 256 }), {
        doc: "Failure domains of its instances.",
        minItems: 1,
        maxItems: 100,
        listType: "atomic",
      }),
    ),
    deletion: optional(machineDeletion),
    taints: optional(machineTaints),
    minReadySeconds,
    replicas,
    variables: overrides,
  },
  { doc: "One MachinePool of the topology." },
);

/** `Cluster.spec.topology`: a cluster described by a ClusterClass. */
export const topology = object(
  {
    classRef: object(
      {
        name: objectName("Name of the ClusterClass."),
        namespace: optional(
          namespaceName(
            "Namespace of the ClusterClass; by default that of the Cluster. Another one must be allowed by the annotation capstan.dev/allowed-namespaces of the class.",
          ),
        ),
      },
      { doc: "Reference to the ClusterClass." },
    ),
    version: string({ doc: "Kubernetes version of the whole cluster.", minLength: 1, maxLength: 256 }),
    controlPlane: optional(controlPlane),
    workers: optional(
      object(
        {
          machineDeployments: optional(
            array(machineDeployment, {
              doc: "Groups of Machines.",
              minItems: 1,
              maxItems: 2000,
              listType: "map",
              keys: ["name"],
            }),
          ),
          machinePools: optional(
            array(machinePool, {
              doc: "Groups of instances that the infrastructure provider manages.",
              minItems: 1,
              maxItems: 2000,
              listType: "map",
              keys: ["name"],
            }),
          ),
        },
        { doc: "Workers of the cluster.", minProperties: 1 },
      ),
    ),
    variables: optional(variables("Values of the class's variables.")),
  },
  { doc: "A cluster described by a ClusterClass." },
);
