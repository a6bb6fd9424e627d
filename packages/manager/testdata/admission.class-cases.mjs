/** ClusterClasses and topologies: rules of upstream's webhooks beside those in admission.topology-cases.mjs. */
import { clusterClass, object, templateRef, workerClass } from "./admission.objects.mjs";

const taint = (key) => ({ taints: [{ key, effect: "NoSchedule", propagation: "Always" }] });
const OURS = "node.cluster.x-k8s.io/uninitialized";
const bad = { metadata: { labels: { bad: "a b" } } };
const surge = (maxSurge, maxUnavailable) => ({
  rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } } },
});
const health = (checks, remediation) => ({
  healthCheck: {
    checks: { unhealthyNodeConditions: [{ type: "Ready", status: "False", timeoutSeconds: 300 }], ...checks },
    ...(remediation && { remediation }),
  },
});
const hasty = health({ nodeStartupTimeoutSeconds: 10 });
const vague = health({}, { triggerIf: { unhealthyLessThanOrEqualTo: "some" } });
const crowded = health({}, { maxInFlight: "some" });
const machineInfrastructure = { templateRef: templateRef("FooMachineTemplate") };

const deployments = (more) => clusterClass({ workers: { machineDeployments: [workerClass("w", more)] } });
const pools = (...classes) => clusterClass({ workers: { machinePools: classes } });
const ofControlPlane = (more) =>
  clusterClass({ controlPlane: { templateRef: templateRef("FooControlPlaneTemplate"), ...more } });
const watched = (more) => ofControlPlane({ machineInfrastructure, ...more });

/** Paused, of a class that is not there: what can be told without one. */
const topology = (more) =>
  object(
    "Cluster",
    { paused: true, topology: { classRef: { name: "nowhere" }, version: "v1.34.0", ...more } },
    { name: "c" },
  );
const withDeployments = (more) => topology({ workers: { machineDeployments: [{ class: "w", name: "a", ...more }] } });
const withPools = (more) => topology({ workers: { machinePools: [{ class: "w", name: "a", ...more }] } });

const selectorOf = (kind, matchResources) => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind,
  matchResources,
});
const ofCluster = selectorOf("FooClusterTemplate", { infrastructureCluster: true });
const patch = (definition, more = {}, spec = {}) =>
  clusterClass({
    workers: { machineDeployments: [workerClass("w"), workerClass("v")], machinePools: [workerClass("p")] },
    variables: [{ name: "known", required: false, schema: { openAPIV3Schema: { type: "string" } } }],
    patches: [{ name: "p", definitions: [definition], ...more }],
    ...spec,
  });
const change = { op: "add", path: "/spec/template/spec/x", value: 1 };
const json = (given) => patch({ selector: ofCluster, jsonPatches: [{ ...change, ...given }] });
const valueFrom = (from) =>
  patch({ selector: ofCluster, jsonPatches: [{ op: "add", path: "/spec/template/spec/x", valueFrom: from }] });
const selecting = (selector) => patch({ selector, jsonPatches: [change] });
const ofClasses = (...names) => selecting(selectorOf("FooMachineTemplate", { machineDeploymentClass: { names } }));
const ofPools = (...names) => selecting(selectorOf("FooConfigTemplate", { machinePoolClass: { names } }));
const enabledIf = (text) => patch({ selector: ofCluster, jsonPatches: [change] }, { enabledIf: text });
const versions = (...kubernetesVersions) => ({ create: clusterClass({ kubernetesVersions }) });
const variable = (schema, more = {}) =>
  clusterClass({
    variables: [{ name: "v", required: true, schema: { openAPIV3Schema: schema }, ...more }],
  });

/** @type {Record<string, import("./admission.cases.mjs").AdmissionCase>} */
export const CLASS_CASES = {
  "ClusterClass with a pool class twice": { create: pools(workerClass("a"), workerClass("a")) },
  "ClusterClass with a name both of pools and of deployments": {
    create: clusterClass({ workers: { machineDeployments: [workerClass("a")], machinePools: [workerClass("a")] } }),
  },
  "ClusterClass with a taint that is ours": { create: deployments(taint(OURS)) },
  "ClusterClass with a control plane's taint on workers": {
    create: deployments(taint("node-role.kubernetes.io/control-plane")),
  },
  "ClusterClass with a taint that is ours on pools": { create: pools(workerClass("p", taint(OURS))) },
  "ClusterClass with a taint that is ours on its control plane": { create: watched(taint(OURS)) },
  "ClusterClass with bad labels": { create: deployments(bad) },
  "ClusterClass with bad labels of pools": { create: pools(workerClass("p", bad)) },
  "ClusterClass with bad labels of its control plane": { create: ofControlPlane(bad) },
  "ClusterClass that cannot move": { create: deployments(surge(0, 0)) },
  "ClusterClass that surges by nonsense": { create: deployments(surge("some", 0)) },
  "ClusterClass too hasty for start-up": { create: deployments(hasty) },
  "ClusterClass with a nonsense limit": { create: deployments(vague) },
  "ClusterClass with nonsense in flight": { create: deployments(crowded) },
  "ClusterClass with a control plane too hasty for start-up": { create: watched(hasty) },
  "ClusterClass with a control plane with a nonsense limit": { create: watched(vague) },
  "ClusterClass with a bad name template of its control plane": {
    create: ofControlPlane({ naming: { template: "_" } }),
  },
  "ClusterClass with a bad name template of workers": { create: deployments({ naming: { template: "{{ .nope }}" } }) },
  "ClusterClass with a name template of workers": {
    create: deployments({ naming: { template: "{{ .cluster.name }}-{{ .machineDeployment.topologyName }}" } }),
  },
  "ClusterClass with a bad name template of pools": {
    create: pools(workerClass("p", { naming: { template: "{{ .machineDeployment.topologyName }}" } })),
  },
  "ClusterClass of workers that are no template": {
    create: deployments({ infrastructure: { templateRef: templateRef("FooMachine") } }),
  },
  "ClusterClass of a template without a name": {
    create: clusterClass({ infrastructure: { templateRef: { ...templateRef("FooClusterTemplate"), name: "" } } }),
  },
  "ClusterClass of a template of no version": {
    create: clusterClass({
      infrastructure: { templateRef: { ...templateRef("FooClusterTemplate"), apiVersion: "x" } },
    }),
  },
  "ClusterClass of another version of its infrastructure": {
    create: clusterClass({}),
    change: { spec: { infrastructure: { templateRef: { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1" } } } },
  },
  "ClusterClass of another group of its infrastructure": {
    create: clusterClass({}),
    change: { spec: { infrastructure: { templateRef: { apiVersion: "other.cluster.x-k8s.io/v1beta2" } } } },
  },

  "Versions of a class that are right": versions("v1.33.0", "v1.34.1", "v1.34.2"),
  "Versions of a class with one that is none": versions("one"),
  "Versions of a class with a pre-release before": versions("v1.34.0-rc.1", "v1.34.0"),
  "Versions of a class with a pre-release after": versions("v1.34.0", "v1.34.0-rc.1"),
  "Versions of a class of a vendor's builds": versions("v1.34.0+vendor.1", "v1.34.0+vendor.2"),
  "Versions of a class of a vendor's builds the wrong way": versions("v1.34.0+vendor.2", "v1.34.0+vendor.1"),
  "Versions of a class of builds without order": versions("v1.34.0+b", "v1.34.0+a"),
  "Versions of a class of builds with numbers": versions("v1.34.0+a.9", "v1.34.0+a.10"),
  "Versions of a class of pre-releases": versions("v1.34.0-beta.2", "v1.34.0-beta.10", "v1.34.0-rc.1"),
  "Versions of a class with one twice": versions("v1.34.0", "v1.34.0"),
  "Versions of a class without the prefix": versions("1.34.0"),

  "Patch with a name twice": {
    create: patch(
      { selector: ofCluster, jsonPatches: [change] },
      {},
      {
        patches: ["p", "p"].map((name) => ({ name, definitions: [{ selector: ofCluster, jsonPatches: [change] }] })),
      },
    ),
  },
  "Patch with the name of ours": { create: patch({ selector: ofCluster, jsonPatches: [change] }, { name: "inline" }) },
  "Patch that is switched by nonsense": { create: enabledIf("{{ if }}") },
  "Patch that is switched by an unknown function": { create: enabledIf("{{ nope .x }}") },
  "Patch that is switched by a variable": { create: enabledIf('{{ if eq .known "x" }}true{{ end }}') },
  "Patch that selects nothing": { create: selecting(selectorOf("FooClusterTemplate", {})) },
  "Patch that selects nothing on purpose": {
    create: selecting(selectorOf("FooClusterTemplate", { infrastructureCluster: false })),
  },
  "Patch that selects another infrastructure": {
    create: selecting(selectorOf("BarClusterTemplate", { infrastructureCluster: true })),
  },
  "Patch that selects another control plane": {
    create: selecting(selectorOf("BarControlPlaneTemplate", { controlPlane: true })),
  },
  "Patch that selects a control plane": {
    create: selecting(selectorOf("FooControlPlaneTemplate", { controlPlane: true })),
  },
  "Patch that selects workers": { create: ofClasses("w", "v") },
  "Patch that selects all workers": { create: ofClasses("*") },
  "Patch that selects workers by their beginning": { create: ofClasses("w*") },
  "Patch that selects workers that do not exist": { create: ofClasses("w", "x") },
  "Patch that selects workers by two stars": { create: ofClasses("*w*") },
  "Patch that selects workers by a star in the middle": { create: ofClasses("w*v") },
  "Patch that selects workers by no name": { create: ofClasses("a b*") },
  "Patch that selects pools": { create: ofPools("p") },
  "Patch that selects pools that do not exist": { create: ofPools("w") },
  "Patch of an unknown operation": { create: json({ op: "test" }) },
  "Patch of a later element": { create: json({ path: "/spec/template/spec/x/1" }) },
  "Patch of the first element": { create: json({ path: "/spec/template/spec/x/0" }) },
  "Patch of the last element": { create: json({ path: "/spec/template/spec/x/-" }) },
  "Patch that replaces an element": { create: json({ op: "replace", path: "/spec/template/spec/x/0" }) },
  "Patch that removes an element": { create: json({ op: "remove", path: "/spec/template/spec/x/0" }) },
  "Patch of metadata": { create: json({ path: "/metadata/labels" }) },
  "Patch without a value": {
    create: patch({ selector: ofCluster, jsonPatches: [{ op: "add", path: "/spec/template/spec/x" }] }),
  },
  "Patch with two values": { create: json({ valueFrom: { variable: "known" } }) },
  "Patch with a value from nowhere": { create: valueFrom({}) },
  "Patch with a value from both": { create: valueFrom({ variable: "known", template: "x" }) },
  "Patch with a value from a template that does not end": { create: valueFrom({ template: "{{ .known" }) },
  "Patch with a value from a template": { create: valueFrom({ template: "{{ .known | upper }}" }) },
  "Patch with a value from a part of a variable": { create: valueFrom({ variable: "known.part[0]" }) },
  "Patch with a value of ours": { create: valueFrom({ variable: "builtin.cluster.name" }) },
  "Patch with a value of ours that is none": { create: valueFrom({ variable: "builtin.cluster.colour" }) },

  "Variable of a class with a bad pattern": { create: variable({ type: "string", pattern: "[" }) },
  "Variable of a class with a list of nothing": { create: variable({ type: "array" }) },
  "Variable of a class with limits the wrong way": { create: variable({ type: "integer", minimum: "x" }) },
  "Variable of a class with an example that does not fit": { create: variable({ type: "integer", example: "x" }) },
  "Variable of a class with a choice that does not fit": { create: variable({ type: "integer", enum: ["x"] }) },
  "Variable of a class with a rule that costs too much": {
    create: variable({
      type: "array",
      items: { type: "array", items: { type: "string" } },
      "x-kubernetes-validations": [{ rule: "self.all(a, self.all(b, a.all(c, b.all(d, c == d))))" }],
    }),
  },
  "Variable of a class with a rule of no truth": {
    create: variable({ type: "integer", "x-kubernetes-validations": [{ rule: "self + 1" }] }),
  },
  "Variable of a class with a message that is no text": {
    create: variable({
      type: "integer",
      "x-kubernetes-validations": [{ rule: "self > 1", messageExpression: "self" }],
    }),
  },
  "Variable of a class with bad labels": {
    create: variable({ type: "string" }, { deprecatedV1Beta1Metadata: bad.metadata }),
  },
  "Variable of a class with bad labels of its schema": {
    create: variable({ type: "string", "x-metadata": bad.metadata }),
  },
  "Variable of a class with a choice deep inside that does not fit": {
    create: variable({ type: "object", properties: { a: { type: "integer", enum: ["x"] } } }),
  },
  "Variable of a class with an example that breaks its rule": {
    create: variable({ type: "integer", example: 1, "x-kubernetes-validations": [{ rule: "self > 1" }] }),
  },
  "Variable of a class with a map and properties": {
    create: variable({
      type: "object",
      additionalProperties: { type: "string" },
      properties: { a: { type: "string" } },
    }),
  },
  "Variable of a class with a required field it lacks": {
    create: variable({ type: "object", required: ["b"], properties: { a: { type: "string" } } }),
  },
  "Variable of a class without a name": { create: variable({ type: "string" }, { name: "" }) },

  "Topology with a taint that is ours": { create: withDeployments(taint(OURS)) },
  "Topology with a control plane's taint on workers": {
    create: withDeployments(taint("node-role.kubernetes.io/control-plane")),
  },
  "Topology with a taint that is ours on pools": { create: withPools(taint(OURS)) },
  "Topology with a taint that is ours on its control plane": { create: topology({ controlPlane: taint(OURS) }) },
  "Topology with bad labels": { create: withDeployments(bad) },
  "Topology with bad labels of pools": { create: withPools(bad) },
  "Topology with bad labels of its control plane": { create: topology({ controlPlane: bad }) },
  "Topology that cannot move": { create: withDeployments(surge(0, 0)) },
  "Topology that surges by nonsense": { create: withDeployments(surge("some", 0)) },
  "Topology without a class": { create: topology({ classRef: { name: "" } }) },
  "Topology without the prefix of its version": {
    create: topology({ version: "1.34.0" }),
    shows: ["spec.topology.version"],
  },
  ...Object.fromEntries(
    ["1", "+2", "03", "0", "-1", "many", ""].map((text) => [
      `Topology that upgrades "${text}" at once`,
      {
        create: {
          ...topology({}),
          metadata: {
            name: "c",
            namespace: "default",
            annotations: { "topology.cluster.x-k8s.io/upgrade-concurrency": text },
          },
        },
      },
    ]),
  ),
};
