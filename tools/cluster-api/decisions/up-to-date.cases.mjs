/** Questions whether a Machine is up to date: every field of KubeadmConfigSpec in turn, and what else can start a rollout. */
import { changes, fullSample, withField } from "./fields.mjs";

const SPEC = "controlPlane.spec.kubeadmConfigSpec";
/** What both InitConfiguration and JoinConfiguration have, by their names in each. */
const SHARED = [
  ["nodeRegistration", "nodeRegistration"],
  ["patches", "patches"],
  ["skipPhases", "skipPhases"],
  ["timeouts", "timeouts"],
  ["localAPIEndpoint", "controlPlane.localAPIEndpoint"],
];
export const NOW = "2026-06-01T00:00:00Z";

const template = (name, kind = "GenericMachineTemplate") => ({
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
  kind,
  metadata: { name, namespace: "default" },
  spec: { template: { spec: { size: name } } },
});

/** The objects of a control plane with one Machine, whose KubeadmConfig has `kubeadmConfigSpec`. */
function world(version, kubeadmConfigSpec, machine) {
  const metadata = { name: "cp-1", namespace: "default", creationTimestamp: "2026-01-01T00:00:00Z" };
  return {
    now: NOW,
    cluster: { metadata: { name: "c", namespace: "default" }, spec: {} },
    controlPlane: {
      metadata: { name: "cp", namespace: "default", uid: "1" },
      spec: {
        replicas: 3,
        version,
        machineTemplate: {
          spec: {
            infrastructureRef: {
              apiGroup: "infrastructure.cluster.x-k8s.io",
              kind: "GenericMachineTemplate",
              name: "small",
            },
          },
        },
        kubeadmConfigSpec,
      },
    },
    machine: {
      metadata,
      spec: {
        clusterName: "c",
        version,
        bootstrap: { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name: "cp-1" } },
        infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "GenericMachine", name: "cp-1" },
      },
    },
    kubeadmConfig: { metadata, spec: configOf(kubeadmConfigSpec, machine) },
    infraMachine: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      kind: "GenericMachine",
      metadata: {
        ...metadata,
        annotations: {
          "cluster.x-k8s.io/cloned-from-name": "small",
          "cluster.x-k8s.io/cloned-from-groupkind": "GenericMachineTemplate.infrastructure.cluster.x-k8s.io",
        },
      },
      spec: { size: "small" },
    },
    templates: [template("small"), template("large"), template("small", "OtherMachineTemplate")],
  };
}

/** As the control plane creates it: the first Machine has no JoinConfiguration, the others have no InitConfiguration. */
function configOf(spec, machine) {
  const copy = structuredClone(spec);
  if (machine === "init") delete copy.joinConfiguration;
  else {
    delete copy.initConfiguration;
    copy.joinConfiguration = { ...copy.joinConfiguration, controlPlane: copy.joinConfiguration?.controlPlane ?? {} };
  }
  return copy;
}

/** The worlds that the cases start from: up to date, with nothing set and with everything set. */
export function bases(specSchema) {
  const full = fullSample(specSchema, 0);
  delete full.clusterConfiguration.etcd.external;
  for (const [init, join] of SHARED)
    full.joinConfiguration = withField(full.joinConfiguration, join, full.initConfiguration[init]);
  const all = {};
  for (const machine of ["init", "join"]) {
    all[`empty-${machine}`] = world("v1.37.1", {}, machine);
    all[`full-${machine}`] = world("v1.37.1", full, machine);
    all[`gated-${machine}`] = withField(
      world("v1.34.3", { clusterConfiguration: {} }, machine),
      "kubeadmConfig.spec.clusterConfiguration.featureGates",
      { ControlPlaneKubeletLocalMode: true },
    );
  }
  return all;
}

/** The question of a case: its base with the fields of `set`; null removes a field. */
export function questionOf(base, set) {
  let question = base;
  for (const [path, value] of Object.entries(set)) question = withField(question, path, value ?? undefined);
  return { ask: "upToDate", ...question };
}

/** All cases by name: `{ base, set }`. */
export function cases(specSchema) {
  const all = new Map();
  const add = (name, base, set) => {
    if (all.has(name)) throw new Error(`two cases are named ${name}`);
    all.set(name, { base, set });
  };
  const seen = new Set();
  for (const change of changes(specSchema, "")) {
    for (const machine of ["init", "join"]) fieldCases(add, seen, machine, change);
  }
  for (const [name, { base, set }] of Object.entries(SPECIAL)) {
    for (const machine of ["init", "join"]) add(`${name} (${machine})`, `${base}-${machine}`, set);
  }
  return all;
}

function fieldCases(add, seen, machine, { path, way, from, to }) {
  const plain = setOf(machine, [path], from, to);
  const key = JSON.stringify([machine, plain]);
  if (!seen.has(key)) add(`${path}: ${way} (${machine})`, `empty-${machine}`, plain);
  seen.add(key);
  if (way === "changed")
    add(`${path}: ${way} among others (${machine})`, `full-${machine}`, setOf(machine, [path], from, to));
  const shared = SHARED.find(
    ([init]) => path === `initConfiguration.${init}` || path.startsWith(`initConfiguration.${init}.`),
  );
  if (shared === undefined) return;
  const rest = path.slice(`initConfiguration.${shared[0]}`.length);
  const both = [path, `joinConfiguration.${shared[1]}${rest}`];
  add(`${path} and join: ${way} (${machine})`, `empty-${machine}`, setOf(machine, both, from, to));
}

/** `from` is what the Machine was created with and `to` what the control plane wants now. */
function setOf(machine, paths, from, to) {
  const set = {};
  for (const path of paths) {
    const other = machine === "init" ? "joinConfiguration" : "initConfiguration";
    if (from !== undefined && path.split(".")[0] !== other) set[`kubeadmConfig.spec.${path}`] = from;
    set[`${SPEC}.${path}`] = to ?? null;
  }
  return set;
}

const after = (time, created) => ({
  "controlPlane.spec.rollout.after": time,
  ...(created === undefined ? {} : { "machine.metadata.creationTimestamp": created }),
});
const before = (days, expiry) => ({
  ...(days === undefined ? {} : { "controlPlane.spec.rollout.before.certificatesExpiryDays": days }),
  ...(expiry === undefined ? {} : { "machine.status.certificatesExpiryDate": expiry }),
});
const gates = (config, wanted) => ({
  "kubeadmConfig.spec.clusterConfiguration.featureGates": config,
  "controlPlane.spec.kubeadmConfigSpec.clusterConfiguration.featureGates": wanted,
});
const extraArgs = [{ name: "cloud-provider", value: "external" }];
const infra = (field, value) => ({ [`controlPlane.spec.machineTemplate.spec.infrastructureRef.${field}`]: value });

const SPECIAL = {
  "nothing differs": { base: "empty", set: {} },
  "nothing differs, everything set": { base: "full", set: {} },
  "nothing differs, with the default feature gate": { base: "gated", set: {} },

  "version: patch up": { base: "empty", set: { "controlPlane.spec.version": "v1.37.2" } },
  "version: minor up": { base: "empty", set: { "controlPlane.spec.version": "v1.38.0" } },
  "version: down": { base: "empty", set: { "controlPlane.spec.version": "v1.36.0" } },
  "version: build metadata": { base: "empty", set: { "controlPlane.spec.version": "v1.37.1+vendor.1" } },
  "version: not a version": { base: "empty", set: { "controlPlane.spec.version": "latest" } },
  "version: the default feature gate is added": {
    base: "empty",
    set: { "machine.spec.version": "v1.30.4", "controlPlane.spec.version": "v1.31.0" },
  },
  "version: the default feature gate is removed": { base: "gated", set: { "controlPlane.spec.version": "v1.36.0" } },
  "version: a release candidate has the default feature gate": {
    base: "gated",
    set: { "machine.spec.version": "v1.31.0-rc.1", "controlPlane.spec.version": "v1.31.0-rc.1" },
  },
  "version: a release candidate without the default feature gate": {
    base: "gated",
    set: {
      "machine.spec.version": "v1.36.0-rc.1",
      "controlPlane.spec.version": "v1.36.0-rc.1",
      "kubeadmConfig.spec.clusterConfiguration.featureGates": null,
    },
  },
  "feature gate: the Machine has no default": { base: "gated", set: gates(null, null) },
  "feature gate: switched off by the user": {
    base: "gated",
    set: gates(null, { ControlPlaneKubeletLocalMode: false }),
  },
  "feature gate: was off and is off": {
    base: "gated",
    set: gates({ ControlPlaneKubeletLocalMode: false }, { ControlPlaneKubeletLocalMode: false }),
  },
  "feature gate: another one added": { base: "gated", set: gates({ ControlPlaneKubeletLocalMode: true }, { A: true }) },

  "rollout.after: in the future": { base: "empty", set: after("2026-06-02T00:00:00Z") },
  "rollout.after: now": { base: "empty", set: after(NOW) },
  "rollout.after: passed": { base: "empty", set: after("2026-05-01T00:00:00Z") },
  "rollout.after: the Machine is newer": { base: "empty", set: after("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z") },
  "rollout.after: the Machine is as old": { base: "empty", set: after("2026-05-01T00:00:00Z", "2026-05-01T00:00:00Z") },
  "rollout.before: no expiry known": { base: "empty", set: before(30, undefined) },
  "rollout.before: not set": { base: "empty", set: before(undefined, "2026-06-01T00:00:01Z") },
  "rollout.before: far away": { base: "empty", set: before(30, "2026-07-02T00:00:00Z") },
  "rollout.before: just not": { base: "empty", set: before(30, "2026-07-01T00:00:01Z") },
  "rollout.before: exactly": { base: "empty", set: before(30, "2026-07-01T00:00:00Z") },
  "rollout.before: near": { base: "empty", set: before(30, "2026-06-30T00:00:00Z") },
  "rollout.before: expired": { base: "empty", set: before(7, "2026-05-01T00:00:00Z") },
  "rollout: several reasons": {
    base: "empty",
    set: {
      ...before(30, "2026-06-02T00:00:00Z"),
      ...after("2026-05-01T00:00:00Z"),
      "controlPlane.spec.version": "v1.37.2",
      ...infra("name", "large"),
      "controlPlane.spec.kubeadmConfigSpec.verbosity": 3,
    },
  },

  "template: another name": { base: "empty", set: infra("name", "large") },
  "template: another kind": { base: "empty", set: infra("kind", "OtherMachineTemplate") },
  "template: does not exist": { base: "empty", set: infra("name", "missing") },
  "template: does not exist while the control plane is deleted": {
    base: "empty",
    set: {
      ...infra("name", "missing"),
      "controlPlane.metadata.deletionTimestamp": NOW,
      "controlPlane.metadata.finalizers": ["kubeadm.controlplane.cluster.x-k8s.io"],
    },
  },
  "template: the content differs under the same name": { base: "empty", set: { "infraMachine.spec.size": "large" } },
  "infrastructure machine: without annotations": { base: "empty", set: { "infraMachine.metadata.annotations": null } },
  "infrastructure machine: with one of the annotations": {
    base: "empty",
    set: { "infraMachine.metadata.annotations": { "cluster.x-k8s.io/cloned-from-name": "other" } },
  },
  "infrastructure machine: missing": { base: "empty", set: { infraMachine: null, ...infra("name", "large") } },
  "KubeadmConfig: missing": { base: "empty", set: { kubeadmConfig: null, [`${SPEC}.verbosity`]: 3 } },
  "KubeadmConfig: no reference": { base: "empty", set: { "machine.spec.bootstrap": {}, [`${SPEC}.verbosity`]: 3 } },

  "config: the endpoint that the bootstrap provider wrote": {
    base: "empty",
    set: { "kubeadmConfig.spec.clusterConfiguration.controlPlaneEndpoint": "10.0.0.1:6443" },
  },
  "config: the token that the bootstrap provider wrote": {
    base: "empty",
    set: {
      "kubeadmConfig.spec.joinConfiguration.discovery": {
        bootstrapToken: {
          token: "abcdef.0123456789abcdef",
          apiServerEndpoint: "10.0.0.1:6443",
          caCertHashes: ["sha256:1"],
        },
      },
    },
  },
  "config: defaults of earlier versions": {
    base: "empty",
    set: {
      "kubeadmConfig.spec.format": "cloud-config",
      "kubeadmConfig.spec.initConfiguration.nodeRegistration.imagePullPolicy": "IfNotPresent",
      "kubeadmConfig.spec.joinConfiguration.nodeRegistration.imagePullPolicy": "IfNotPresent",
    },
  },
  "config: no control plane part, with kubelet arguments": {
    base: "empty",
    set: {
      "kubeadmConfig.spec.initConfiguration": null,
      "kubeadmConfig.spec.joinConfiguration": { nodeRegistration: { kubeletExtraArgs: extraArgs } },
      [`${SPEC}.joinConfiguration.nodeRegistration.kubeletExtraArgs`]: extraArgs,
    },
  },
  "config: no control plane part": {
    base: "empty",
    set: {
      "kubeadmConfig.spec.joinConfiguration": { patches: { directory: "/p" } },
      [`${SPEC}.joinConfiguration.patches.directory`]: "/p",
    },
  },
  "config: init and join were never alike": {
    base: "empty",
    set: {
      [`${SPEC}.initConfiguration.nodeRegistration.kubeletExtraArgs`]: extraArgs,
      [`${SPEC}.joinConfiguration.nodeRegistration.taints`]: [],
    },
  },
  "config: init and join differ and the Machine has its own": {
    base: "empty",
    set: {
      "kubeadmConfig.spec.initConfiguration.nodeRegistration.name": "n",
      [`${SPEC}.initConfiguration.nodeRegistration.name`]: "n",
      [`${SPEC}.joinConfiguration.nodeRegistration.name`]: "m",
    },
  },

  "in place: labels and annotations": {
    base: "empty",
    set: { "controlPlane.spec.machineTemplate.metadata": { labels: { a: "b" }, annotations: { c: "d" } } },
  },
  "in place: taints": {
    base: "empty",
    set: {
      "controlPlane.spec.machineTemplate.spec.taints": [
        { key: "a", value: "b", effect: "NoSchedule", propagation: "Always" },
      ],
    },
  },
  "in place: readiness gates": {
    base: "empty",
    set: { "controlPlane.spec.machineTemplate.spec.readinessGates": [{ conditionType: "A" }] },
  },
  "in place: timeouts": {
    base: "empty",
    set: {
      "controlPlane.spec.machineTemplate.spec.deletion": {
        nodeDrainTimeoutSeconds: 1,
        nodeVolumeDetachTimeoutSeconds: 2,
        nodeDeletionTimeoutSeconds: 3,
      },
    },
  },
  "in place: naming and replicas": {
    base: "empty",
    set: { "controlPlane.spec.machineNaming.template": "a-{{ .random }}", "controlPlane.spec.replicas": 5 },
  },
  "annotation: delete-machine": {
    base: "empty",
    set: { "machine.metadata.annotations": { "cluster.x-k8s.io/delete-machine": "" } },
  },
  "annotation: delete-machine and another version": {
    base: "empty",
    set: {
      "machine.metadata.annotations": { "cluster.x-k8s.io/delete-machine": "" },
      "controlPlane.spec.version": "v1.37.2",
    },
  },
  "annotation: remediate-machine and another version": {
    base: "empty",
    set: {
      "machine.metadata.annotations": { "cluster.x-k8s.io/remediate-machine": "" },
      "controlPlane.spec.version": "v1.37.2",
    },
  },
};
