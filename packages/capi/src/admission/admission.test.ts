import type { Unstructured } from "@capstan/apimachinery";
import { describe, expect, it } from "vitest";
import { ALL_KINDS } from "../kinds/all.ts";
import type { AdmissionLookup } from "../schema/kind.ts";
import { admit, type Fields, sample as object } from "../testing/admit.ts";
import { kindAdmissionPlugins } from "./plugins.ts";

const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "FooMachine", name: "m" };
const machineSpec = { clusterName: "c", bootstrap: { dataSecretName: "d" }, infrastructureRef };
const setSpec = { clusterName: "c", selector: {}, template: { spec: machineSpec } };
const template = { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2", kind: "FooTemplate", name: "t" };
const classSpec = {
  infrastructure: { templateRef: template },
  controlPlane: { templateRef: { ...template, kind: "CPTemplate" } },
};
const jsonPatch = { op: "replace", path: "/spec/x", value: 1 };
const patch = (selector: Fields, jsonPatches: Fields[] = [jsonPatch]): Fields => ({
  ...classSpec,
  patches: [{ name: "p", definitions: [{ selector: { ...template, name: undefined, ...selector }, jsonPatches }] }],
});
const controlPlane = {
  version: "v1.34.1",
  machineTemplate: { spec: { infrastructureRef } },
  kubeadmConfigSpec: {},
};

describe("what is refused on creation", () => {
  it.each<[string, Unstructured, string]>([
    ["cluster without refs", object("Cluster", { paused: true }), "one of spec.controlPlaneRef"],
    [
      "cluster name too long",
      object("Cluster", { infrastructureRef }, { metadata: { name: "a".repeat(64) } }),
      "metadata.name",
    ],
    [
      "bad label of a configuration template",
      object("KubeadmConfigTemplate", { template: { metadata: { labels: { a: "b c" } }, spec: {} } }),
      "spec.template.metadata.labels",
    ],
    [
      "bad CIDR",
      object("Cluster", {
        infrastructureRef,
        clusterNetwork: { pods: { cidrBlocks: ["10.0.0.0/8", "10.0.0.300/8"] } },
      }),
      "spec.clusterNetwork.pods.cidrBlocks[1]",
    ],
    [
      "bad version",
      object("Cluster", { topology: { classRef: { name: "k" }, version: "latest" } }),
      "spec.topology.version",
    ],
    [
      "bad concurrency",
      object(
        "Cluster",
        { topology: { classRef: { name: "k" }, version: "v1.34.4" } },
        { metadata: { annotations: { "topology.cluster.x-k8s.io/upgrade-concurrency": "0" } } },
      ),
      "upgrade-concurrency",
    ],
    ["machine without bootstrap", object("Machine", { ...machineSpec, bootstrap: {} }), "spec.bootstrap"],
    ["machine version", object("Machine", { ...machineSpec, version: "1.x" }), "spec.version"],
    [
      "reserved taint",
      object("Machine", {
        ...machineSpec,
        taints: [{ key: "node.kubernetes.io/x", effect: "NoSchedule", propagation: "Always" }],
      }),
      "spec.taints[0].key",
    ],
    [
      "selector that does not match",
      object("MachineSet", { ...setSpec, selector: { matchLabels: { a: "b" } } }),
      'spec.template.metadata.labels: Invalid value: {}: must match spec.selector "a=b"',
    ],
    [
      "other cluster in the template",
      object("MachineDeployment", { ...setSpec, template: { spec: { ...machineSpec, clusterName: "d" } } }),
      "spec.clusterName",
    ],
    [
      "rollout that cannot move",
      object("MachineDeployment", {
        ...setSpec,
        rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      }),
      "maxUnavailable and maxSurge cannot both be 0",
    ],
    [
      "naming without random",
      object("MachineSet", { ...setSpec, machineNaming: { template: "a" } }),
      "{{ .random }} is missing",
    ],
    [
      "naming that gives no name",
      object("MachineSet", { ...setSpec, machineNaming: { template: "A-{{ .random }}" } }),
      "spec.machineNaming.template",
    ],
    [
      "unknown preflight check",
      object("MachineSet", setSpec, {
        metadata: { annotations: { "machineset.cluster.x-k8s.io/skip-preflight-checks": "All,Foo" } },
      }),
      "skipped preflight check(s)",
    ],
    ["empty selector", object("MachineHealthCheck", { clusterName: "c", selector: {} }), "spec.selector"],
    [
      "selector of another cluster",
      object("MachineHealthCheck", {
        clusterName: "c",
        selector: { matchLabels: { "cluster.x-k8s.io/cluster-name": "d" } },
      }),
      "spec.selector",
    ],
    [
      "startup timeout too short",
      object("MachineHealthCheck", {
        clusterName: "c",
        selector: { matchLabels: { a: "b" } },
        checks: { nodeStartupTimeoutSeconds: 29 },
      }),
      "spec.checks.nodeStartupTimeoutSeconds",
    ],
    [
      "selector of a drain rule",
      object("MachineDrainRule", {
        drain: { behavior: "Skip" },
        pods: [{ selector: { matchLabels: { a: "b" } } }, { namespaceSelector: { matchLabels: { a: "b c" } } }],
      }),
      "spec.pods[1].namespaceSelector",
    ],
    ["order without drain", object("MachineDrainRule", { drain: { behavior: "Skip", order: 1 } }), "spec.drain.order"],
    [
      "address",
      object("IPAddress", { claimRef: { name: "x" }, poolRef: infrastructureRef, address: "10.0.0", prefix: 24 }),
      "spec.address",
    ],
    [
      "prefix",
      object("IPAddress", { claimRef: { name: "x" }, poolRef: infrastructureRef, address: "10.0.0.1", prefix: 33 }),
      "spec.prefix",
    ],
    [
      "class with unknown variable",
      object(
        "ClusterClass",
        patch({ matchResources: { infrastructureCluster: true } }, [
          { op: "add", path: "/spec/x", valueFrom: { variable: "nope" } },
        ]),
      ),
      "variable with name nope",
    ],
    [
      "patch that selects nothing",
      object("ClusterClass", patch({ matchResources: { controlPlane: true } })),
      "matchResources.controlPlane",
    ],
    [
      "patch of status",
      object(
        "ClusterClass",
        patch({ matchResources: { infrastructureCluster: true } }, [{ ...jsonPatch, path: "/status/x" }]),
      ),
      "jsonPatches[0].path",
    ],
    [
      "versions with a gap",
      object("ClusterClass", { ...classSpec, kubernetesVersions: ["v1.32.0", "v1.34.0"] }),
      "spec.kubernetesVersions[1]",
    ],
    [
      "even control plane",
      object("KubeadmControlPlane", { ...controlPlane, replicas: 2 }),
      "cannot be an even number when etcd is stacked",
    ],
    ["no control plane", object("KubeadmControlPlane", { ...controlPlane, replicas: 0 }), "spec.replicas"],
    [
      "surge",
      object("KubeadmControlPlane", {
        ...controlPlane,
        rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 2 } } },
      }),
      "maxSurge",
    ],
    [
      "two etcds",
      object("KubeadmControlPlane", {
        ...controlPlane,
        kubeadmConfigSpec: {
          clusterConfiguration: {
            etcd: {
              local: { dataDir: "/x" },
              external: { endpoints: ["e"], caFile: "a", certFile: "b", keyFile: "c" },
            },
          },
        },
      }),
      "cannot have both external and local etcd",
    ],
    [
      "what does not fit the stored version",
      object(
        "ClusterClass",
        { infrastructure: { ref: { kind: "x" } }, controlPlane: { ref: template } },
        {},
        "v1beta1",
      ),
      "spec.infrastructure.templateRef.apiVersion",
    ],
  ])("%s", async (_, created, message) => {
    expect(await admit(created)).toContain(message);
  });
});

describe("what is refused on change", () => {
  const cluster = { infrastructureRef, controlPlaneRef: { ...infrastructureRef, kind: "Foo" } };
  it.each<[string, string, Fields, Fields, string]>([
    [
      "machine's cluster",
      "Machine",
      machineSpec,
      { ...machineSpec, clusterName: "d" },
      "spec.clusterName: Forbidden: field is immutable",
    ],
    [
      "infrastructure gone",
      "Cluster",
      cluster,
      { controlPlaneRef: cluster.controlPlaneRef },
      "spec.infrastructureRef: Forbidden: cannot be removed",
    ],
    ["control plane gone", "Cluster", cluster, { infrastructureRef }, "spec.controlPlaneRef"],
    [
      "topology gone",
      "Cluster",
      { topology: { classRef: { name: "k" }, version: "v1.34.0" } },
      { infrastructureRef },
      "spec.topology",
    ],
    [
      "topology added",
      "Cluster",
      cluster,
      { ...cluster, topology: { classRef: { name: "k" }, version: "v1.34.0" } },
      "classRef cannot be set",
    ],
    [
      "version down",
      "Cluster",
      { topology: { classRef: { name: "k" }, version: "v1.34.1" } },
      { topology: { classRef: { name: "k" }, version: "v1.34.0" } },
      "version cannot be decreased",
    ],
    [
      "address",
      "IPAddressClaim",
      { poolRef: infrastructureRef },
      { poolRef: { ...infrastructureRef, name: "n" } },
      "spec",
    ],
    [
      "control plane template",
      "KubeadmControlPlaneTemplate",
      { template: { spec: { kubeadmConfigSpec: {} } } },
      { template: { spec: { kubeadmConfigSpec: { format: "ignition" } } } },
      "spec.template.spec: Forbidden: field is immutable",
    ],
    [
      "two minors",
      "KubeadmControlPlane",
      controlPlane,
      { ...controlPlane, version: "v1.36.0" },
      "cannot update Kubernetes version",
    ],
    [
      "fixed part of the configuration",
      "KubeadmControlPlane",
      controlPlane,
      { ...controlPlane, kubeadmConfigSpec: { clusterConfiguration: { certificatesDir: "/x" } } },
      "spec.kubeadmConfigSpec.clusterConfiguration.certificatesDir: Forbidden: cannot be modified",
    ],
    [
      "strategy",
      "ClusterResourceSet",
      { clusterSelector: { matchLabels: { a: "b" } }, resources: [], strategy: "ApplyOnce" },
      { clusterSelector: { matchLabels: { a: "b" } }, resources: [], strategy: "Reconcile" },
      "spec.strategy",
    ],
    [
      "class kinds",
      "ClusterClass",
      classSpec,
      { ...classSpec, infrastructure: { templateRef: { ...template, kind: "Bar" } } },
      "spec.infrastructure.templateRef",
    ],
  ])("%s", async (_, kind, before, after, message) => {
    expect(await admit(object(kind, after), object(kind, before))).toContain(message);
  });

  it("lets what is being deleted lose its finalizers whatever the rules say", async () => {
    const old = object("Machine", { ...machineSpec, bootstrap: {} });
    expect(
      await admit(
        object(
          "Machine",
          { ...machineSpec, bootstrap: {} },
          { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } },
        ),
        old,
      ),
    ).toBe("");
  });
});

describe("checks with other objects", () => {
  const lookup = (...objects: Unstructured[]): AdmissionLookup => ({
    get: async ({ kind }, _namespace, name) => objects.find((o) => o.kind === kind && o.metadata.name === name),
    list: async ({ kind }) => objects.filter((o) => o.kind === kind),
  });
  const using = object("Cluster", {
    topology: {
      classRef: { name: "k" },
      version: "v1.33.0",
      workers: { machineDeployments: [{ class: "w", name: "a" }] },
    },
  });
  const ofClass = (spec: Fields): Unstructured => object("ClusterClass", spec, { metadata: { name: "k" } });

  it.each<[string, Unstructured | undefined, Unstructured | undefined, AdmissionLookup, string]>([
    ["class in use", undefined, ofClass(classSpec), lookup(using), "used by: ns/x"],
    [
      "class of workers in use",
      ofClass(classSpec),
      ofClass({ ...classSpec, workers: { machineDeployments: [{ class: "w" }] } }),
      lookup(using),
      'class "w" cannot be deleted',
    ],
    ["unknown class of workers", using, undefined, lookup(ofClass(classSpec)), "workers.machineDeployments[0].class"],
    [
      "two minors",
      object("Cluster", { topology: { classRef: { name: "k" }, version: "v1.35.0" } }),
      object("Cluster", { topology: { classRef: { name: "k" }, version: "v1.33.0" } }),
      lookup(ofClass(classSpec)),
      "version cannot be increased",
    ],
    [
      "address of another pool",
      object("IPAddress", { claimRef: { name: "x" }, poolRef: infrastructureRef, address: "10.0.0.1", prefix: 24 }),
      undefined,
      lookup(object("IPAddressClaim", { poolRef: { ...infrastructureRef, name: "other" } })),
      "spec.poolRef",
    ],
  ])("%s", async (_, next, old, others, message) => {
    expect(await admit(next, old, others)).toContain(message);
  });
});

describe("defaults", () => {
  it("of a MachineDeployment", async () => {
    const created = object("MachineDeployment", {
      ...setSpec,
      template: { spec: { ...machineSpec, version: "1.34.4" } },
    });
    expect(await admit(created)).toBe("");
    expect(created).toMatchObject({
      metadata: { labels: { "cluster.x-k8s.io/cluster-name": "c" } },
      spec: {
        replicas: 1,
        rollout: { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
        selector: { matchLabels: { "cluster.x-k8s.io/deployment-name": "x", "cluster.x-k8s.io/cluster-name": "c" } },
        template: {
          metadata: { labels: { "cluster.x-k8s.io/deployment-name": "x", "cluster.x-k8s.io/cluster-name": "c" } },
          spec: { version: "v1.34.4" },
        },
      },
    });
  });

  it("of a v1beta1 object stay in v1beta1", async () => {
    const ref = { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind: "FooMachine", name: "m" };
    const created = object("Machine", { ...machineSpec, infrastructureRef: ref }, {}, "v1beta1");
    expect(await admit(created)).toBe("");
    expect(created).toMatchObject({
      apiVersion: "cluster.x-k8s.io/v1beta1",
      spec: { nodeDeletionTimeout: "10s", infrastructureRef: ref },
    });
    expect(created.metadata.annotations).toBeUndefined();
  });

  it.each([
    [undefined, undefined, 1],
    ["3", undefined, 3],
    ["3", 1, 3],
    ["3", 4, 4],
    ["3", 9, 5],
  ])("replicas with autoscaler minimum %s, before %s: %s", async (min, before, expected) => {
    const prefix = "cluster.x-k8s.io/cluster-api-autoscaler-node-group";
    const annotations = min === undefined ? {} : { [`${prefix}-min-size`]: min, [`${prefix}-max-size`]: "5" };
    const created = object("MachinePool", setSpec, { metadata: { annotations } });
    await admit(created, before === undefined ? undefined : object("MachinePool", { ...setSpec, replicas: before }));
    expect((created["spec"] as Fields)["replicas"]).toBe(expected);
  });

  it("rejects unparsable limits that replicas would be derived from, and names the limit", async () => {
    const prefix = "cluster.x-k8s.io/cluster-api-autoscaler-node-group";
    const annotations = { [`${prefix}-min-size`]: "few", [`${prefix}-max-size`]: "5" };
    for (const kind of ["MachineDeployment", "MachineSet", "MachinePool"]) {
      const said = await admit(object(kind, setSpec, { metadata: { annotations } }));
      expect(said).toContain(`metadata.annotations.${prefix}-min-size`);
      expect(said).not.toContain("max-size");
      expect(await admit(object(kind, { ...setSpec, replicas: 2 }, { metadata: { annotations } }))).toBe("");
    }
  });

  it.each([
    null,
    "text",
    1,
    [],
    { spec: "text" },
    { spec: { template: 1 } },
    { spec: { selector: null, template: { spec: null } } },
  ])("leave nonsense to the schema: %j", async (nonsense) => {
    const broken = {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineSet",
      metadata: { name: "x" },
      ...(typeof nonsense === "object" ? nonsense : {}),
    };
    const plugin = kindAdmissionPlugins(ALL_KINDS).find(({ name }) => name.startsWith("MachineSet."));
    const request = {
      operation: "CREATE",
      type: { group: "", version: "", kind: "" },
      object: broken as Unstructured,
      oldObject: undefined,
    };
    await expect(plugin?.mutate(request)).resolves.toBeUndefined();
  });
});
