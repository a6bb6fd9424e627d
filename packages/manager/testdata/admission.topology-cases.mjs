/** Topologies and the classes they use: questions that need other objects. */
import { clusterClass, deployment, machine, object, template, templateRef, workerClass } from "./admission.objects.mjs";

const INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io";
const CONTROL_PLANES = "controlplane.cluster.x-k8s.io";
const OLD = "v1.33.0";
const NEW = "v1.34.0";

const definition = (group, kind) => {
  const plural = `${kind.toLowerCase()}s`;
  const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}`, labels: { "cluster.x-k8s.io/v1beta2": "v1beta2" } },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
      versions: [
        {
          name: "v1beta2",
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec: anything, status: anything } } },
        },
      ],
    },
  };
};

const TEMPLATES = ["FooClusterTemplate", "BarClusterTemplate", "FooControlPlaneTemplate"];
const WORKER_TEMPLATES = ["FooMachineTemplate", "BarMachineTemplate", "FooConfigTemplate"];

/** Kinds of no provider at all; they must be there before the cases are asked. */
export const FOREIGN_CRDS = [
  ...[...TEMPLATES, ...WORKER_TEMPLATES].map((kind) => definition(INFRASTRUCTURE, kind)),
  definition(CONTROL_PLANES, "FooControlPlane"),
];

const templates = [...TEMPLATES, ...WORKER_TEMPLATES].map((kind) =>
  object(kind, { template: { spec: {} } }, {}, `${INFRASTRUCTURE}/v1beta2`),
);
const variable = (name, schema, required = false) => ({ name, required, schema: { openAPIV3Schema: schema } });
const workers = (...classes) => ({ workers: { machineDeployments: classes } });
const ofWorkers = (...groups) => ({ workers: { machineDeployments: groups } });
const group = (more = {}) => ({ class: "w", name: "a", ...more });

/** A class named k and what it refers to. */
const aClass = (spec = workers(workerClass("w")), name = "k") => [...templates, clusterClass(spec, { name })];
/** Paused, so that upstream's controllers make nothing of it. */
const topology = (more = {}, metadata = {}, spec = {}) =>
  object(
    "Cluster",
    { paused: true, topology: { classRef: { name: "k" }, version: OLD, ...more }, ...spec },
    { name: "c", ...metadata },
  );
const withClass = (classSpec, create, more = {}) => ({ given: aClass(classSpec), create, ...more });

const VARIABLES = {
  ...workers(workerClass("w")),
  variables: [
    variable("region", { type: "string", enum: ["east", "west"] }, true),
    variable("size", { type: "integer", minimum: 1, default: 3 }),
    variable("net", {
      type: "object",
      properties: { mtu: { type: "integer", default: 1500 }, name: { type: "string" } },
      required: ["name"],
    }),
    variable("growing", {
      type: "integer",
      "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "must not shrink" }],
    }),
  ],
};
const set = (name, value) => ({ name, value });
const valued = (...variables) => topology({ variables });
const region = set("region", "east");
const variableCase = (create, more) => withClass(VARIABLES, create, more);
const overriding = (...overrides) =>
  topology({ variables: [region], ...ofWorkers(group({ variables: { overrides } })) });

const autoscaled = {
  metadata: { annotations: { "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "5" } },
};
const checked = { checks: { unhealthyNodeConditions: [{ type: "Ready", status: "False", timeoutSeconds: 300 }] } };
const classWith = (kind, more = {}) => ({ infrastructure: { templateRef: templateRef(kind) }, ...more });

const controlPlaneRef = { apiGroup: CONTROL_PLANES, kind: "FooControlPlane", name: "cp" };
const controlPlane = (version, reached) => ({
  ...object("FooControlPlane", { version }, { name: "cp" }, `${CONTROL_PLANES}/v1beta2`),
  ...(reached === undefined ? {} : { status: { version: reached } }),
});
const owned = { "cluster.x-k8s.io/cluster-name": "c", "topology.cluster.x-k8s.io/owned": "" };
const deploymentOf = (version) => deployment({ template: template({ version }) }, { name: "md", labels: owned });
const machineOf = (version) =>
  machine({ version }, { name: "m", labels: { ...owned, "cluster.x-k8s.io/deployment-name": "md" } });
/** A cluster of the old version, the parts it has by now, and the wish for a new one. */
const upgrade = (parts, version = NEW, { annotations, spec = { controlPlaneRef } } = {}) => ({
  given: [...aClass(), ...parts],
  create: topology({}, annotations === undefined ? {} : { annotations }, spec),
  change: { spec: { topology: { version } } },
});
const reached = [controlPlane(OLD, OLD), deploymentOf(OLD), machineOf(OLD)];

/** @type {Record<string, import("./admission.cases.mjs").AdmissionCase>} */
export const TOPOLOGY_CASES = {
  "Topology of a class that is not there": { create: topology({ classRef: { name: "nowhere" } }) },
  "Topology of a class": withClass(undefined, topology(ofWorkers(group()))),
  "Topology with an unknown class of workers": withClass(undefined, topology(ofWorkers(group({ class: "other" })))),
  "Topology with an unknown class of pools": withClass(
    undefined,
    topology({ workers: { machinePools: [{ class: "w", name: "a" }] } }),
  ),
  "Topology with workers twice": withClass(undefined, topology(ofWorkers(group(), group()))),
  "Topology of a version the class does not have": withClass({ kubernetesVersions: [NEW] }, topology()),
  "Topology is taken away": withClass(undefined, topology({}, {}, { controlPlaneRef }), {
    change: { spec: { topology: null } },
  }),

  "Variables that are right": variableCase(valued(region, set("net", { name: "n" })), {
    shows: ["spec.topology.variables"],
  }),
  "Variables without a required one": variableCase(valued(set("size", 1))),
  "Variables of a wrong type": variableCase(valued(region, set("size", "large"))),
  "Variables that are too small": variableCase(valued(region, set("size", 0))),
  "Variables that are not among the values": variableCase(valued(set("region", "north"))),
  "Unknown variables": variableCase(valued(region, set("other", 1))),
  "Variables that lack a field": variableCase(valued(region, set("net", { mtu: 9000 }))),
  "Variables with an unknown field": variableCase(valued(region, set("net", { name: "n", speed: 1 }))),
  "Variables that break a rule of change": variableCase(valued(region, set("growing", 5)), {
    change: { spec: { topology: { variables: [region, set("size", 3), set("growing", 4)] } } },
  }),
  "Variables that keep a rule of change": variableCase(valued(region, set("growing", 5)), {
    change: { spec: { topology: { variables: [region, set("size", 3), set("growing", 6)] } } },
  }),
  "Variables of workers that are right": variableCase(overriding(set("size", 2), set("net", { name: "n" })), {
    shows: ["spec.topology.workers.machineDeployments"],
  }),
  "Unknown variables of workers": variableCase(overriding(set("other", 1))),
  "Variables of workers of a wrong type": variableCase(overriding(set("size", "large"))),

  "Autoscaler in addition to replicas": withClass(
    undefined,
    topology(ofWorkers(group({ replicas: 2, ...autoscaled }))),
  ),
  "Autoscaler of the class in addition to replicas": withClass(
    workers(workerClass("w", autoscaled)),
    topology(ofWorkers(group({ replicas: 2 }))),
  ),
  "Autoscaler without replicas": withClass(undefined, topology(ofWorkers(group(autoscaled)))),
  "ClusterClass gets an autoscaler in addition to replicas": {
    given: [...aClass(), topology(ofWorkers(group({ replicas: 2 })))],
    create: clusterClass(workers(workerClass("w")), { name: "k" }),
    change: { spec: workers(workerClass("w", autoscaled)) },
  },

  "Health checks of a control plane without machines": withClass(
    undefined,
    topology({ controlPlane: { healthCheck: checked } }),
  ),
  "Health checks of a control plane without a description": withClass(
    undefined,
    topology({ controlPlane: { healthCheck: { enabled: true } } }),
  ),
  "Health checks of workers without a description": withClass(
    undefined,
    topology(ofWorkers(group({ healthCheck: { enabled: true } }))),
  ),
  "Health checks of workers that the class describes": withClass(
    workers(workerClass("w", { healthCheck: checked })),
    topology(ofWorkers(group({ healthCheck: { enabled: true } }))),
  ),
  "ClusterClass loses health checks in use": {
    given: [
      ...aClass(workers(workerClass("w", { healthCheck: checked }))),
      topology(ofWorkers(group({ healthCheck: { enabled: true } }))),
    ],
    create: clusterClass({}, { name: "k" }),
    change: { spec: workers(workerClass("w")) },
  },

  "Topology moves to a class like its own": {
    given: [...aClass(), clusterClass(workers(workerClass("w")), { name: "k2" })],
    create: topology(ofWorkers(group())),
    change: { spec: { topology: { classRef: { name: "k2" } } } },
  },
  "Topology moves to a class of another infrastructure": {
    given: [...aClass(), clusterClass(classWith("BarClusterTemplate", workers(workerClass("w"))), { name: "k2" })],
    create: topology(ofWorkers(group())),
    change: { spec: { topology: { classRef: { name: "k2" } } } },
  },
  "Topology moves to a class of other machines": {
    given: [...aClass(), clusterClass(workers(workerClass("w", classWith("BarMachineTemplate"))), { name: "k2" })],
    create: topology(ofWorkers(group())),
    change: { spec: { topology: { classRef: { name: "k2" } } } },
  },
  "Topology moves to a class without its workers": {
    given: [...aClass(), clusterClass({}, { name: "k2" })],
    create: topology(ofWorkers(group())),
    change: { spec: { topology: { classRef: { name: "k2" } } } },
  },
  "Topology moves to a class that is not there": {
    given: aClass(),
    create: topology(),
    change: { spec: { topology: { classRef: { name: "nowhere" } } } },
  },
  "Topology moves from a class that is not there": {
    given: aClass(),
    create: topology({ classRef: { name: "nowhere" } }),
    change: { spec: { topology: { classRef: { name: "k" } } } },
  },

  "Version rises when all have reached the one before": upgrade(reached),
  "Version falls": upgrade(reached, "v1.32.0"),
  "Version skips a minor": upgrade(reached, "v1.35.0"),
  "Version rises before the control plane has the last one": upgrade([controlPlane("v1.32.0", "v1.32.0")]),
  "Version rises while the control plane is made": upgrade([controlPlane(OLD)]),
  "Version rises while the control plane upgrades": upgrade([controlPlane(OLD, "v1.32.0")]),
  "Version rises while workers wait": upgrade([controlPlane(OLD, OLD), deploymentOf("v1.32.0")]),
  "Version rises while a machine that no workers select is old": upgrade([
    controlPlane(OLD, OLD),
    deploymentOf(OLD),
    machineOf("v1.32.0"),
  ]),
  "Version rises without a control plane": upgrade([], NEW, { spec: {} }),
  "Version rises although workers wait, by annotation": upgrade(
    [controlPlane(OLD, OLD), deploymentOf("v1.32.0")],
    NEW,
    { annotations: { "unsafe.topology.cluster.x-k8s.io/disable-update-version-check": "" } },
  ),

  "ClusterClass in use is deleted": {
    given: [...aClass(), topology()],
    create: clusterClass({}, { name: "k" }),
    remove: true,
  },
  "ClusterClass loses workers in use": {
    given: [...aClass(), topology(ofWorkers(group()))],
    create: clusterClass({}, { name: "k" }),
    change: { spec: { workers: null } },
  },
  "ClusterClass changes although a cluster uses workers that it never had": {
    given: [topology(ofWorkers(group({ class: "never" }))), ...aClass()],
    create: clusterClass({}, { name: "k" }),
    change: { spec: { variables: [variable("v", { type: "string" })] } },
  },
  "ClusterClass loses a version in use": {
    given: [...aClass({ kubernetesVersions: [OLD, NEW] }), topology()],
    create: clusterClass({}, { name: "k" }),
    change: { spec: { kubernetesVersions: [NEW] } },
  },
  "ClusterClass changes the kind of its workers": {
    create: clusterClass(workers(workerClass("w"))),
    change: { spec: workers(workerClass("w", classWith("BarMachineTemplate"))) },
  },
  "ClusterClass changes the kind of its pools": {
    create: clusterClass({ workers: { machinePools: [workerClass("w")] } }),
    change: { spec: { workers: { machinePools: [workerClass("w", classWith("BarMachineTemplate"))] } } },
  },
  "ClusterClass gets machines for its control plane later": {
    create: clusterClass({}),
    change: { spec: { controlPlane: { machineInfrastructure: { templateRef: templateRef("FooMachineTemplate") } } } },
  },
  "ClusterClass of a kind that is no template": { create: clusterClass(classWith("FooCluster")) },
  "ClusterClass with a bad name template": {
    create: clusterClass({
      infrastructure: { ...classWith("FooClusterTemplate").infrastructure, naming: { template: "{{ .nope }}" } },
    }),
  },
  "ClusterClass with a variable of no type": { create: clusterClass({ variables: [variable("v", {})] }) },
  "ClusterClass with a variable of an unknown type": {
    create: clusterClass({ variables: [variable("v", { type: "thing" })] }),
  },
  "ClusterClass with a variable named as ours": {
    create: clusterClass({ variables: [variable("builtin", { type: "string" })] }),
  },
  "ClusterClass with a variable name of two parts": {
    create: clusterClass({ variables: [variable("a.b", { type: "string" })] }),
  },
  "ClusterClass with a variable twice": {
    create: clusterClass({ variables: [variable("v", { type: "string" }), variable("v", { type: "string" })] }),
  },
  "ClusterClass with a rule that cannot be read": {
    create: clusterClass({
      variables: [variable("v", { type: "integer", "x-kubernetes-validations": [{ rule: "self >" }] })],
    }),
  },
  "ClusterClass with a default deep inside that does not fit": {
    create: clusterClass({
      variables: [variable("v", { type: "object", properties: { a: { type: "integer", default: "x" } } })],
    }),
  },
};
