/** Machines, what makes them and what watches them: rules of upstream's webhooks beside those in admission.cases.mjs. */
import {
  address,
  check,
  claim,
  deployment,
  drainRule,
  machine,
  object,
  pool,
  resourceSet,
  set,
  template,
  unhealthy,
} from "./admission.objects.mjs";

const taint = (key) => ({ taints: [{ key, effect: "NoSchedule", propagation: "Always" }] });
const skipping = (checks) => ({ annotations: { "machineset.cluster.x-k8s.io/skip-preflight-checks": checks } });
const surge = (maxSurge, maxUnavailable) => ({
  rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } } },
});
const bad = { labels: { app: "x", bad: "a b" } };
const badAnnotation = { labels: { app: "x" }, annotations: { "a b": "" } };
const byExpression = (key, operator, values) => ({ matchExpressions: [{ key, operator, ...(values && { values }) }] });

/** @type {Record<string, object>} */
const MAKERS = { MachineSet: set, MachineDeployment: deployment, MachinePool: pool };
const ofEach = (mistake, spec) =>
  Object.fromEntries(Object.entries(MAKERS).map(([kind, make]) => [`${kind} with ${mistake}`, { create: make(spec) }]));

const binding = (spec) =>
  object("ClusterResourceSetBinding", { clusterName: "c", ...spec }, {}, "addons.cluster.x-k8s.io/v1beta2");

/** @type {Record<string, import("./admission.cases.mjs").AdmissionCase>} */
export const WORKER_CASES = {
  "Machine of a pool without bootstrap": {
    create: machine({ bootstrap: {} }, { labels: { "cluster.x-k8s.io/pool-name": "p" } }),
  },
  "Machine without a prefix of its version": {
    create: machine({ version: "1.34.4" }),
    shows: ["spec.version", "metadata.labels", "spec.deletion"],
  },
  "Machine with an outdated taint": { create: machine(taint("node.cluster.x-k8s.io/outdated-revision")) },
  "Machine with Kubernetes' taint": { create: machine(taint("node.kubernetes.io/not-ready")) },
  "Machine with the taint of a lost host": { create: machine(taint("node.kubernetes.io/out-of-service")) },
  "Machine with a cloud's taint": { create: machine(taint("node.cloudprovider.kubernetes.io/uninitialized")) },
  "Machine with a master's taint": { create: machine(taint("node-role.kubernetes.io/master")) },
  "Machine with a control plane's taint": { create: machine(taint("node-role.kubernetes.io/control-plane")) },
  "Machine of a control plane with its taint": {
    create: machine(taint("node-role.kubernetes.io/control-plane"), {
      labels: { "cluster.x-k8s.io/control-plane": "" },
    }),
  },
  "Machine with a taint twice": {
    create: machine({ taints: [...taint("a").taints, ...taint("a").taints] }),
  },
  ...ofEach("a taint that is ours", { template: template(taint("node.cluster.x-k8s.io/uninitialized")) }),
  ...ofEach("a control plane's taint", { template: template(taint("node-role.kubernetes.io/control-plane")) }),
  ...ofEach("bad labels", { template: template({}, bad) }),
  ...ofEach("bad annotations", { template: template({}, badAnnotation) }),
  ...ofEach("no bootstrap", { template: template({ bootstrap: {} }) }),

  "MachineSet without a selector": {
    create: set({ selector: {}, template: template({}, {}) }),
    shows: ["spec.selector", "spec.template.metadata"],
  },
  "MachineSet that selects by an expression": {
    create: set({ selector: byExpression("app", "In", ["x"]) }),
    shows: ["spec.selector"],
  },
  "MachineSet that selects what its machines lack": { create: set({ selector: byExpression("other", "Exists") }) },
  "MachineSet that selects by nothing of many": { create: set({ selector: byExpression("app", "In", []) }) },
  "MachineSet that skips checks": { create: set({}, skipping("ControlPlaneIsStable, KubeadmVersionSkew")) },
  "MachineSet that skips all checks": { create: set({}, skipping("All")) },
  "MachineSet that skips nothing": { create: set({}, skipping("")) },
  "MachineSet with an unknown way to delete": { create: set({ deletion: { order: "Tallest" } }) },

  "MachineDeployment without a selector": {
    create: deployment({ selector: {}, template: template({}, {}) }),
    shows: ["spec.selector", "spec.template.metadata", "spec.rollout", "metadata.labels"],
  },
  "MachineDeployment skips an unknown preflight check": { create: deployment({}, skipping("Foo")) },
  "MachineDeployment that cannot move": { create: deployment(surge(0, 0)) },
  "MachineDeployment that cannot move by a part": { create: deployment(surge("0%", 0)) },
  "MachineDeployment that surges by a number as a text": { create: deployment(surge("3", 0)) },
  "MachineDeployment that surges below nothing": { create: deployment(surge(-1, 0)) },
  "MachineDeployment that surges by more than all": { create: deployment(surge("150%", 0)) },
  "MachineDeployment with remediation by a part": { create: deployment({ remediation: { maxInFlight: "30%" } }) },
  "MachineDeployment with names that are none": {
    create: deployment({ machineNaming: { template: "_{{ .random }}" } }),
  },
  "MachineDeployment with a name that does not end": {
    create: deployment({ machineNaming: { template: "{{ .random }}-{{ .machineSet" } }),
  },
  "MachineDeployment changes its selector": {
    create: deployment({}),
    change: { spec: { selector: { matchLabels: { app: "y" } }, template: { metadata: { labels: { app: "y" } } } } },
  },

  "MachineHealthCheck of another cluster": {
    create: check({ selector: { matchLabels: { "cluster.x-k8s.io/cluster-name": "d" } }, ...unhealthy(300) }),
  },
  "MachineHealthCheck without a start-up limit": {
    create: check({ checks: { ...unhealthy(300).checks, nodeStartupTimeoutSeconds: 0 } }),
  },
  "MachineHealthCheck with the shortest start-up limit": {
    create: check({ checks: { ...unhealthy(300).checks, nodeStartupTimeoutSeconds: 30 } }),
    shows: ["spec.checks", "metadata.labels"],
  },
  "MachineHealthCheck that says nothing": { create: check({}), shows: ["spec.checks"] },
  "MachineHealthCheck with a part": {
    create: check({ ...unhealthy(300), remediation: { triggerIf: { unhealthyLessThanOrEqualTo: "40%" } } }),
  },
  "MachineHealthCheck with two limits": {
    create: check({
      ...unhealthy(300),
      remediation: { triggerIf: { unhealthyLessThanOrEqualTo: "40%", unhealthyInRange: "[1-5]" } },
    }),
  },
  "MachineHealthCheck with a condition twice": {
    create: check({
      checks: {
        unhealthyNodeConditions: [
          ...unhealthy(300).checks.unhealthyNodeConditions,
          ...unhealthy(300).checks.unhealthyNodeConditions,
        ],
      },
    }),
  },

  "MachineDrainRule that waits in an order": { create: drainRule({ drain: { behavior: "WaitCompleted", order: 1 } }) },
  "MachineDrainRule that skips": { create: drainRule({ drain: { behavior: "Skip" } }) },
  "MachineDrainRule with an unknown behaviour": { create: drainRule({ drain: { behavior: "Hope" } }) },
  "MachineDrainRule with a bad selector of clusters": {
    create: drainRule({ machines: [{ clusterSelector: byExpression("app", "In", []) }] }),
  },
  "MachineDrainRule with a bad selector of pods": {
    create: drainRule({ pods: [{ selector: byExpression("app", "In", []) }] }),
  },
  "MachineDrainRule with a bad selector of namespaces": {
    create: drainRule({ pods: [{ namespaceSelector: byExpression("app", "Exists", ["x"]) }] }),
  },
  "MachineDrainRule with a machine twice": {
    create: drainRule({
      machines: [{ selector: { matchLabels: { a: "b" } } }, { selector: { matchLabels: { a: "b" } } }],
    }),
  },

  "ClusterResourceSet of an unknown kind": { create: resourceSet({ resources: [{ kind: "Pod", name: "x" }] }) },
  "ClusterResourceSet without resources": { create: resourceSet({ resources: [] }) },
  "ClusterResourceSet with an unknown strategy": { create: resourceSet({ strategy: "Often" }) },
  "ClusterResourceSet without a strategy": { create: resourceSet({}), shows: ["spec.strategy"] },
  "ClusterResourceSet changes its resources": {
    create: resourceSet({}),
    change: { spec: { resources: [{ kind: "Secret", name: "y" }] } },
  },
  "ClusterResourceSetBinding is accepted": { create: binding({}) },
  "ClusterResourceSetBinding moves to another cluster": {
    create: binding({}),
    change: { spec: { clusterName: "d" } },
  },

  "IPAddress of version 6": { create: address({ address: "fd00::1", prefix: 64, gateway: "fd00::ff" }) },
  "IPAddress of version 6 with a prefix too long": { create: address({ address: "fd00::1", prefix: 129 }) },
  "IPAddress with a prefix below nothing": { create: address({ prefix: -1 }) },
  "IPAddress of a claim that is not there": { create: address({ claimRef: { name: "nowhere" } }) },
  "IPAddress without a claim": { create: address({ claimRef: { name: "" } }) },
  "IPAddress of the pool of its claim": { given: [claim({})], create: address({}) },
  "IPAddressClaim without a pool": { create: claim({ poolRef: { apiGroup: "", kind: "", name: "" } }) },
  "IPAddressClaim gets a label": { create: claim({}), change: { metadata: { labels: { a: "b" } } } },
};
