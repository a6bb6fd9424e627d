/**
 * Stories of control planes on Machines, told to upstream's managers when they are recorded and to ours when they are compared
 * (`control-plane.tell.mjs`). Machines are cp-1, cp-2 … in the order of their creation. Every step waits until nothing is left to do,
 * unless `until` says what it waits for.
 */
const OLD = "v1.36.3";
const NEW = "v1.37.1";
const version = (wanted) => ({ patch: { version: wanted } });
const config = (kubeadmConfigSpec) => ({ patch: { kubeadmConfigSpec } });
const unhealthy = (machine, until) => ({
  annotate: machine,
  annotations: { "cluster.x-k8s.io/remediate-machine": "" },
  ...(until === undefined ? {} : { until }),
});
const marked = (machine) => ({
  annotate: machine,
  annotations: { "cluster.x-k8s.io/delete-machine": "" },
  until: { machines: 3 },
});
const domain = (name, controlPlane = true) => ({ name, controlPlane });
const apiServer = (value) => ({ clusterConfiguration: { apiServer: { extraArgs: [{ name: "v", value }] } } });
const labelled = (value) => ({ nodeRegistration: { kubeletExtraArgs: [{ name: "node-labels", value }] } });
const scales = (...replicas) => replicas.map((each) => ({ scale: each }));
const from = (name) => ({ machineTemplate: { spec: { infrastructureRef: { name } } } });
const quiet = { quiet: true };

/** A rollout of one Machine that one field of the KubeadmConfig starts. */
const trigger = (kubeadmConfigSpec) => ({ replicas: 1, steps: [config(kubeadmConfigSpec)] });

export const STORIES = {
  "create 1": { replicas: 1 },
  "create 3": { replicas: 3 },
  "create 5": { replicas: 5 },
  "create 3 in three domains": { replicas: 3, domains: [domain("domain-a"), domain("domain-b"), domain("domain-c")] },
  "create 5 in two domains of three": {
    replicas: 5,
    domains: [domain("domain-a"), domain("domain-b"), domain("domain-c", false)],
  },
  "create 1 with workers": { replicas: 1, workers: 2 },
  "create with names of a template": { replicas: 1, spec: { machineNaming: { template: "named-{{ .random }}" } } },

  "scale 1 3 5 3 1": { replicas: 1, steps: scales(3, 5, 3, 1) },
  "scale down what is marked": {
    replicas: 3,
    steps: [marked("cp-3"), { scale: 1 }],
  },
  "scale up waits for a component": {
    replicas: 1,
    steps: [
      {
        component: "kube-controller-manager",
        machine: "cp-1",
        ready: false,
        until: { condition: "ControlPlaneComponentsHealthy", status: "False" },
      },
      { scale: 3, until: quiet },
      { component: "kube-controller-manager", machine: "cp-1", ready: true },
    ],
  },

  "roll 1 to another version": { replicas: 1, steps: [version(NEW)] },
  "roll 3 to another version": { replicas: 3, steps: [version(NEW)] },
  "roll 3 to another version without surge": {
    replicas: 3,
    spec: { rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0 } } } },
    steps: [version(NEW)],
  },
  "roll 3 with one marked": {
    replicas: 3,
    steps: [marked("cp-2"), version(NEW)],
  },
  "roll and scale at once": { replicas: 1, steps: [{ patch: { version: NEW, replicas: 3 } }] },
  "roll and change again on the way": {
    replicas: 3,
    steps: [{ ...config(apiServer("1")), until: { machines: 4 } }, config(apiServer("2"))],
  },
  "roll and take it back on the way": {
    replicas: 3,
    kubeadmConfigSpec: apiServer("0"),
    steps: [{ ...config(apiServer("1")), until: { members: 4 } }, config(apiServer("0"))],
  },
  "roll for the API server": trigger(apiServer("1")),
  "roll for etcd": trigger({
    clusterConfiguration: { etcd: { local: { extraArgs: [{ name: "heartbeat-interval", value: "200" }] } } },
  }),
  "roll for feature gates": trigger({ clusterConfiguration: { featureGates: { RootlessControlPlane: true } } }),
  "roll for files": trigger({ files: [{ path: "/a", content: "b" }] }),
  "roll for commands": trigger({ preKubeadmCommands: ["true"] }),
  "roll for users": trigger({ users: [{ name: "u", sshAuthorizedKeys: ["k"] }] }),
  "roll for the node registration": {
    replicas: 3,
    steps: [config({ initConfiguration: labelled("a=b"), joinConfiguration: labelled("a=b") })],
  },
  "roll for the join configuration alone": { replicas: 3, steps: [config({ joinConfiguration: labelled("a=b") })] },
  "do not roll for the init configuration of joined Machines": {
    replicas: 3,
    steps: [{ ...config({ initConfiguration: { nodeRegistration: { name: "n" } } }), until: quiet }],
  },
  "do not roll for DNS": {
    replicas: 1,
    steps: [{ ...config({ clusterConfiguration: { dns: { imageTag: "v1.14.2" } } }), until: quiet }],
  },
  "roll for another infrastructure template": {
    replicas: 1,
    steps: [{ patch: from("large") }],
  },
  "roll after a point in time": { replicas: 1, steps: [{ rolloutAfterMs: 1000 }] },
  "roll one whose certificates expire": {
    replicas: 3,
    spec: { rollout: { before: { certificatesExpiryDays: 30 } } },
    steps: [{ expires: "cp-2", days: 3 }],
  },

  "replace 1 of 3": { replicas: 3, healthCheck: true, steps: [unhealthy("cp-1")] },
  "replace 2 of 5": {
    replicas: 5,
    healthCheck: true,
    steps: [unhealthy("cp-2", { machines: 5, deleting: 1 }), unhealthy("cp-4")],
  },
  "do not replace 1 of 1": { replicas: 1, healthCheck: true, steps: [unhealthy("cp-1", quiet)] },
  "replace one without a Node": {
    replicas: 1,
    healthCheck: true,
    slow: "late",
    steps: [
      { patch: { replicas: 3, ...from("late") }, until: { machines: 2, withoutNode: 1 } },
      { patch: from("small"), until: quiet },
      unhealthy("cp-2"),
    ],
  },
  "replace the first one before it has started": {
    replicas: 1,
    healthCheck: true,
    template: "late",
    slow: "late",
    start: { machines: 1 },
    steps: [{ patch: from("small"), until: quiet }, unhealthy("cp-1")],
  },
  "replace during a rollout": {
    replicas: 3,
    healthCheck: true,
    steps: [{ ...version(NEW), until: { machines: 4 } }, unhealthy("cp-1")],
  },
  "replace one with an unhealthy component": {
    replicas: 3,
    healthCheck: true,
    steps: [
      {
        component: "kube-apiserver",
        machine: "cp-2",
        ready: false,
        until: { condition: "ControlPlaneComponentsHealthy", status: "False" },
      },
      unhealthy("cp-2"),
    ],
  },

  "remove a member without a Machine": { replicas: 3, steps: [{ ghost: "ghost-1" }] },
  "a Machine is deleted by hand": { replicas: 3, steps: [{ deleteMachine: "cp-2" }] },
  "change in place": {
    replicas: 1,
    steps: [
      {
        patch: {
          machineTemplate: {
            metadata: { labels: { a: "b" }, annotations: { c: "d" } },
            spec: {
              deletion: {
                nodeDrainTimeoutSeconds: 5,
                nodeVolumeDetachTimeoutSeconds: 6,
                nodeDeletionTimeoutSeconds: 7,
              },
              readinessGates: [{ conditionType: "APIServerPodHealthy" }, { conditionType: "NodeHealthy" }],
            },
          },
        },
        until: quiet,
      },
      { patch: { machineTemplate: { metadata: { labels: { a: null, e: "f" }, annotations: null } } }, until: quiet },
    ],
  },
  "pause and continue": {
    replicas: 1,
    steps: [{ pause: true, until: quiet }, { scale: 3, until: quiet }, { pause: false }],
  },

  "adopt a Machine that stands alone, and scale": {
    replicas: 1,
    alone: true,
    start: { nodes: 1 },
    steps: [{ adopt: true, until: quiet }, { scale: 3 }],
  },
  "create 3 of a class, scale and upgrade": {
    replicas: 3,
    topology: true,
    steps: [{ topology: { controlPlane: { replicas: 1 } } }, { topology: { version: NEW } }],
  },

  "delete 1": { replicas: 1, steps: [{ deleteCluster: true, until: { deleted: true } }] },
  "delete 3": { replicas: 3, steps: [{ deleteCluster: true, until: { deleted: true } }] },
  "delete the control plane while there are workers": {
    replicas: 1,
    workers: 1,
    steps: [
      { deleteControlPlane: true, until: quiet },
      { deleteCluster: true, until: { deleted: true } },
    ],
  },
};

/** What a story starts with unless it says otherwise. */
export const DEFAULTS = { version: OLD, template: "small" };
