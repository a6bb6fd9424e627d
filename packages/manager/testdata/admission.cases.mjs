/**
 * What users write wrong, for both upstream's managers and ours: each case is an object to create, or one to create and a merge
 * patch to it. `tools/cluster-api/record-admission.mjs` writes what upstream answers to `admission.recorded.json`.
 */

import { CLASS_CASES } from "./admission.class-cases.mjs";
import { KUBEADM_CASES } from "./admission.kubeadm-cases.mjs";
import {
  address,
  check,
  claim,
  cluster,
  clusterClass,
  config,
  controlPlane,
  deployment,
  drainRule,
  machine,
  object,
  pool,
  resourceSet,
  set,
  template,
  templateRef,
  unhealthy,
  workerClass,
} from "./admission.objects.mjs";
import { REPLICAS_CASES } from "./admission.replicas-cases.mjs";
import { TOPOLOGY_CASES } from "./admission.topology-cases.mjs";
import { WORKER_CASES } from "./admission.worker-cases.mjs";

/** @type {Record<string, import("./admission.cases.mjs").AdmissionCase>} */
export const CASES = {
  "Cluster is accepted": { create: cluster({}) },
  "Cluster without anything": { create: object("Cluster", { paused: false }) },
  "Cluster name that is no label": { create: cluster({}, { name: "a.b" }) },
  "Cluster name that begins with a digit": { create: cluster({}, { name: "1a" }) },
  "Cluster with a bad pod CIDR": { create: cluster({ clusterNetwork: { pods: { cidrBlocks: ["10.0.0.0/33"] } } }) },
  "Cluster with a bad service CIDR": {
    create: cluster({ clusterNetwork: { services: { cidrBlocks: ["nonsense"] } } }),
  },
  "Cluster loses its infrastructure": {
    create: cluster({ controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "Foo", name: "x" } }),
    change: { spec: { infrastructureRef: null } },
  },
  "Cluster loses its control plane": {
    create: cluster({ controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "Foo", name: "x" } }),
    change: { spec: { controlPlaneRef: null } },
  },
  "Cluster with a bad upgrade concurrency": {
    create: cluster({}, { annotations: { "topology.cluster.x-k8s.io/upgrade-concurrency": "0" } }),
  },
  "Cluster gets a topology later": {
    create: cluster({}),
    change: { spec: { topology: { classRef: { name: "c" }, version: "v1.34.4" } } },
  },
  "Cluster topology without a version": {
    create: object("Cluster", { topology: { classRef: { name: "c" }, version: "" } }),
  },
  "Cluster topology with a version that is none": {
    create: object("Cluster", { topology: { classRef: { name: "c" }, version: "one" } }),
  },
  "Cluster endpoint port out of range": {
    create: cluster({ controlPlaneEndpoint: { host: "h", port: 70000 } }),
  },

  "Machine is accepted": { create: machine({}) },
  "Machine without bootstrap": { create: machine({ bootstrap: {} }) },
  "Machine with a version that is none": { create: machine({ version: "one" }) },
  "Machine moves to another cluster": { create: machine({}), change: { spec: { clusterName: "d" } } },
  "Machine with a taint that is ours": {
    create: machine({
      taints: [{ key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule", propagation: "Always" }],
    }),
  },

  "MachineSet is accepted": { create: set({}) },
  "MachineSet whose selector does not match": { create: set({ selector: { matchLabels: { app: "y" } } }) },
  "MachineSet with a bad selector": {
    create: set({ selector: { matchExpressions: [{ key: "app", operator: "Near", values: ["x"] }] } }),
  },
  "MachineSet of two clusters": { create: set({ template: template({ clusterName: "d" }) }) },
  "MachineSet with a version that is none": { create: set({ template: template({ version: "one" }) }) },
  "MachineSet moves to another cluster": {
    create: set({}),
    change: { spec: { clusterName: "d", template: { spec: { clusterName: "d" } } } },
  },
  "MachineSet skips an unknown preflight check": {
    create: set({}, { annotations: { "machineset.cluster.x-k8s.io/skip-preflight-checks": "Foo" } }),
  },
  "MachineSet with a bad name template": { create: set({ machineNaming: { template: "x" } }) },
  "MachineSet with bad template labels": {
    create: set({ template: template({}, { labels: { app: "x", bad: "a b" } }) }),
  },
  "MachineSet with negative replicas": { create: set({ replicas: -1 }) },

  "MachineDeployment is accepted": { create: deployment({}) },
  "MachineDeployment name that is no label": { create: deployment({}, { name: "a".repeat(70) }) },
  "MachineDeployment whose selector does not match": {
    create: deployment({ selector: { matchLabels: { app: "y" } } }),
  },
  "MachineDeployment of two clusters": { create: deployment({ template: template({ clusterName: "d" }) }) },
  "MachineDeployment that surges by nonsense": {
    create: deployment({ rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "some" } } } }),
  },
  "MachineDeployment with nonsense unavailable": {
    create: deployment({ rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "some" } } } }),
  },
  "MachineDeployment with an unknown strategy": { create: deployment({ rollout: { strategy: { type: "Someday" } } }) },
  "MachineDeployment moves to another cluster": {
    create: deployment({}),
    change: { spec: { clusterName: "d", template: { spec: { clusterName: "d" } } } },
  },
  "MachineDeployment with bad remediation": { create: deployment({ remediation: { maxInFlight: "some" } }) },
  "MachineDeployment with a version that is none": { create: deployment({ template: template({ version: "one" }) }) },
  "MachineDeployment with a bad name template": { create: deployment({ machineNaming: { template: "{{ .nope }}" } }) },

  "MachinePool is accepted": { create: pool({}) },
  "MachinePool of two clusters": { create: pool({ template: template({ clusterName: "d" }) }) },
  "MachinePool without bootstrap": { create: pool({ template: template({ bootstrap: {} }) }) },
  "MachinePool with a version that is none": { create: pool({ template: template({ version: "one" }) }) },
  "MachinePool moves to another cluster": {
    create: pool({}),
    change: { spec: { clusterName: "d", template: { spec: { clusterName: "d" } } } },
  },

  "MachineHealthCheck is accepted": { create: check(unhealthy(300)) },
  "MachineHealthCheck that selects everything": { create: check({ selector: {}, ...unhealthy(300) }) },
  "MachineHealthCheck with a bad selector": {
    create: check({ selector: { matchExpressions: [{ key: "app", operator: "Near" }] }, ...unhealthy(300) }),
  },
  "MachineHealthCheck too hasty for start-up": {
    create: check({ checks: { ...unhealthy(300).checks, nodeStartupTimeoutSeconds: 10 } }),
  },
  "MachineHealthCheck with a nonsense limit": {
    create: check({
      ...unhealthy(300),
      remediation: { triggerIf: { unhealthyLessThanOrEqualTo: "some" } },
    }),
  },
  "MachineHealthCheck moves to another cluster": {
    create: check(unhealthy(300)),
    change: { spec: { clusterName: "d" } },
  },
  "MachineHealthCheck with a bad range": {
    create: check({ ...unhealthy(300), remediation: { triggerIf: { unhealthyInRange: "[5-1]" } } }),
  },

  "ClusterClass is accepted": { create: clusterClass({}) },
  "ClusterClass with a class twice": {
    create: clusterClass({ workers: { machineDeployments: [workerClass("a"), workerClass("a")] } }),
  },
  "ClusterClass with a health check without machines": {
    create: clusterClass({
      controlPlane: { templateRef: templateRef("FooControlPlaneTemplate"), healthCheck: unhealthy(300) },
    }),
  },
  "ClusterClass with a patch that does nothing": {
    create: clusterClass({ patches: [{ name: "p", definitions: [] }] }),
  },
  "ClusterClass with an unknown variable in a patch": {
    create: clusterClass({
      patches: [
        {
          name: "p",
          definitions: [
            {
              selector: {
                apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
                kind: "FooClusterTemplate",
                matchResources: { infrastructureCluster: true },
              },
              jsonPatches: [{ op: "add", path: "/spec/template/spec/x", valueFrom: { variable: "nope" } }],
            },
          ],
        },
      ],
    }),
  },
  "ClusterClass with a patch outside of spec": {
    create: clusterClass({
      patches: [
        {
          name: "p",
          definitions: [
            {
              selector: {
                apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
                kind: "FooClusterTemplate",
                matchResources: { infrastructureCluster: true },
              },
              jsonPatches: [{ op: "add", path: "/status/x", value: 1 }],
            },
          ],
        },
      ],
    }),
  },
  "ClusterClass with a variable that has a bad default": {
    create: clusterClass({
      variables: [{ name: "v", required: true, schema: { openAPIV3Schema: { type: "integer", default: "x" } } }],
    }),
  },
  "ClusterClass changes the kind of its infrastructure": {
    create: clusterClass({}),
    change: { spec: { infrastructure: { templateRef: templateRef("BarClusterTemplate") } } },
  },
  "ClusterClass with versions out of order": { create: clusterClass({ kubernetesVersions: ["v1.34.0", "v1.33.0"] }) },
  "ClusterClass that skips a minor version": { create: clusterClass({ kubernetesVersions: ["v1.32.0", "v1.34.0"] }) },

  "ClusterResourceSet is accepted": { create: resourceSet({}) },
  "ClusterResourceSet that selects everything": { create: resourceSet({ clusterSelector: {} }) },
  "ClusterResourceSet with a bad selector": {
    create: resourceSet({ clusterSelector: { matchExpressions: [{ key: "app", operator: "Near" }] } }),
  },
  "ClusterResourceSet changes its strategy": {
    create: resourceSet({ strategy: "ApplyOnce" }),
    change: { spec: { strategy: "Reconcile" } },
  },
  "ClusterResourceSet changes its selector": {
    create: resourceSet({}),
    change: { spec: { clusterSelector: { matchLabels: { app: "y" } } } },
  },

  "IPAddressClaim is accepted": { create: claim({}) },
  "IPAddressClaim changes its pool": { create: claim({}), change: { spec: { poolRef: { name: "y" } } } },
  "IPAddress is accepted": { create: address({}) },
  "IPAddress that is none": { create: address({ address: "nonsense" }) },
  "IPAddress with a prefix too long": { create: address({ prefix: 64 }) },
  "IPAddress with a gateway that is none": { create: address({ gateway: "nonsense" }) },
  "IPAddress changes": { create: address({}), change: { spec: { address: "10.0.0.2" } } },

  "MachineDrainRule is accepted": { create: drainRule({}) },
  "MachineDrainRule that skips in an order": { create: drainRule({ drain: { behavior: "Skip", order: 1 } }) },
  "MachineDrainRule with a bad selector": {
    create: drainRule({ machines: [{ selector: { matchExpressions: [{ key: "app", operator: "Near" }] } }] }),
  },

  "KubeadmConfig is accepted": { create: config({ format: "cloud-config" }) },
  "KubeadmConfig with a file from nowhere": {
    create: config({ files: [{ path: "/a", contentFrom: { secret: { name: "", key: "k" } } }] }),
  },

  "KubeadmControlPlane is accepted": { create: controlPlane({}) },
  "KubeadmControlPlane with even replicas": { create: controlPlane({ replicas: 2 }) },
  "KubeadmControlPlane with no replicas": { create: controlPlane({ replicas: 0 }) },
  "KubeadmControlPlane with a version that is none": { create: controlPlane({ version: "one" }) },
  "KubeadmControlPlane that surges too much": {
    create: controlPlane({ rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 2 } } } }),
  },
  "KubeadmControlPlane that scales in with too few": {
    create: controlPlane({
      replicas: 1,
      rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0 } } },
    }),
  },
  "KubeadmControlPlane skips a minor version": { create: controlPlane({}), change: { spec: { version: "v1.36.0" } } },
  "KubeadmControlPlane changes its certificates folder": {
    create: controlPlane({}),
    change: { spec: { kubeadmConfigSpec: { clusterConfiguration: { certificatesDir: "/elsewhere" } } } },
  },
  "KubeadmControlPlane with a bad DNS tag": {
    create: controlPlane({ kubeadmConfigSpec: { clusterConfiguration: { dns: { imageTag: "v1.6.6@sha256:x" } } } }),
  },

  "KubeadmControlPlane with a DNS tag that is no version": {
    create: controlPlane({ kubeadmConfigSpec: { clusterConfiguration: { dns: { imageTag: "latest" } } } }),
  },
  "KubeadmControlPlane with certificates that outlive their authority": {
    create: controlPlane({
      kubeadmConfigSpec: {
        clusterConfiguration: { certificateValidityPeriodDays: 100, caCertificateValidityPeriodDays: 50 },
      },
    }),
  },
  "KubeadmControlPlane that renews certificates before they are made": {
    create: controlPlane({
      rollout: { before: { certificatesExpiryDays: 30 } },
      kubeadmConfigSpec: { clusterConfiguration: { certificateValidityPeriodDays: 30 } },
    }),
  },
  "KubeadmControlPlane with both kinds of etcd": {
    create: controlPlane({
      kubeadmConfigSpec: {
        clusterConfiguration: {
          etcd: {
            local: { imageTag: "3.6.1" },
            external: { endpoints: ["https://e:2379"], caFile: "a", certFile: "b", keyFile: "c" },
          },
        },
      },
    }),
  },
  "KubeadmControlPlane moves to an external etcd": {
    create: controlPlane({}),
    change: {
      spec: {
        kubeadmConfigSpec: {
          clusterConfiguration: {
            etcd: { external: { endpoints: ["https://e:2379"], caFile: "a", certFile: "b", keyFile: "c" } },
          },
        },
      },
    },
  },
  "KubeadmControlPlane scales to an even number": { create: controlPlane({}), change: { spec: { replicas: 4 } } },
  "KubeadmControlPlane with a bad name template": { create: controlPlane({ machineNaming: { template: "x" } }) },

  "IPAddress of another pool than its claim's": {
    given: [claim({})],
    create: address({ poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: "InClusterIPPool", name: "y" } }),
  },

  ...WORKER_CASES,
  ...CLASS_CASES,
  ...KUBEADM_CASES,
  ...REPLICAS_CASES,
  ...TOPOLOGY_CASES,
};
