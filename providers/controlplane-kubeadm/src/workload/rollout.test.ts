import { parseYaml, type Unstructured } from "@capstan/apimachinery";
import { ConfigMap } from "@capstan/capi";
import { expect, test } from "vitest";
import { workloadWorld } from "../testing/workload-world.ts";
import { AddonDaemonSet, AddonDeployment } from "./addon-kinds.ts";
import { migrateCorefile } from "./corefile.ts";

/** As `kubeadm init` of 1.36 uploads it. */
const UPLOADED = `apiServer: {}
apiVersion: kubeadm.k8s.io/v1beta4
caCertificateValidityPeriod: 87600h0m0s
certificateValidityPeriod: 8760h0m0s
certificatesDir: /etc/kubernetes/pki
clusterName: c1
controlPlaneEndpoint: 10.0.0.100:6443
controllerManager: {}
dns: {}
encryptionAlgorithm: RSA-2048
etcd:
  local:
    dataDir: /var/lib/etcd
imageRepository: registry.k8s.io
kind: ClusterConfiguration
kubernetesVersion: v1.36.3
networking:
  dnsDomain: cluster.local
  podSubnet: 10.244.0.0/16
  serviceSubnet: 10.96.0.0/16
proxy: {}
scheduler: {}
somethingNew: kept
`;

const CLUSTER_CONFIGURATION = {
  apiServer: { extraArgs: [{ name: "v", value: "4" }] },
  imageRepository: "mirror.example/k8s",
  dns: { imageTag: "v1.14.6" },
  etcd: { local: { imageTag: "3.7.0-0", extraArgs: [{ name: "heartbeat-interval", value: "200" }] } },
};

type World = Awaited<ReturnType<typeof workloadWorld>>;

async function started(clusterConfiguration: object = CLUSTER_CONFIGURATION): Promise<World> {
  const world = await workloadWorld({ kubeadmConfigSpec: { clusterConfiguration } });
  await world.client.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "kube-system", name: "kubeadm-config" },
    data: { ClusterConfiguration: UPLOADED },
  } as Unstructured);
  return world;
}

const KUBEADM_CONFIG = { namespace: "kube-system", name: "kubeadm-config" };
const uploaded = async ({ client }: World): Promise<Record<string, unknown>> =>
  parseYaml((await client.get(ConfigMap, KUBEADM_CONFIG))?.data?.["ClusterConfiguration"] ?? "") as never;

test("writes the desired configuration, and keeps what is not its own", async () => {
  const world = await started();
  await world.side.prepareRollout(world.target(), world.context);
  expect(await uploaded(world)).toMatchObject({
    kubernetesVersion: "v1.37.1",
    apiServer: { extraArgs: [{ name: "v", value: "4" }] },
    imageRepository: "mirror.example/k8s",
    etcd: {
      local: { dataDir: "", imageTag: "3.7.0-0", extraArgs: [{ name: "heartbeat-interval", value: "200" }] },
    },
    dns: {},
    networking: { podSubnet: "10.244.0.0/16" },
    controlPlaneEndpoint: "10.0.0.100:6443",
    certificatesDir: "/etc/kubernetes/pki",
    somethingNew: "kept",
  });
  const before = await world.client.get(ConfigMap, KUBEADM_CONFIG);
  await world.side.prepareRollout(world.target(), world.context);
  expect((await world.client.get(ConfigMap, KUBEADM_CONFIG))?.metadata.resourceVersion).toBe(
    before?.metadata.resourceVersion,
  );
});

test("creates the bindings that newer versions of kubeadm rely on, and leaves existing ones alone", async () => {
  const world = await started();
  await world.side.prepareRollout(world.target(), world.context);
  const binding = world.api.internal.get(
    { group: "rbac.authorization.k8s.io", plural: "clusterrolebindings" },
    "",
    "kubeadm:apiserver-kubelet-client",
  );
  expect(binding).toMatchObject({
    roleRef: { kind: "ClusterRole", name: "system:kubelet-api-admin" },
    subjects: [{ kind: "User", name: "kube-apiserver-kubelet-client" }],
  });
});

test("converts the arguments when the version brings a newer API of kubeadm", async () => {
  const world = await workloadWorld();
  await world.client.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: KUBEADM_CONFIG,
    data: {
      ClusterConfiguration:
        "apiVersion: kubeadm.k8s.io/v1beta3\nkind: ClusterConfiguration\nkubernetesVersion: v1.30.0\nclusterName: c1\napiServer:\n  timeoutForControlPlane: 4m0s\n  extraArgs:\n    v: '4'\n",
    },
  } as Unstructured);
  await world.side.prepareRollout(world.target(), world.context);
  expect(await uploaded(world)).toMatchObject({
    apiVersion: "kubeadm.k8s.io/v1beta4",
    apiServer: {},
    clusterName: "c1",
  });
  expect((await uploaded(world))["apiServer"]).toEqual({});
});

test("sets the gate for kubelets that use their own API server exactly where kubeadm has it", async () => {
  const world = await started({});
  const target = world.target();
  target.controlPlane.spec.version = "v1.35.4";
  await world.side.prepareRollout(target, world.context);
  expect((await uploaded(world))["featureGates"]).toEqual({ ControlPlaneKubeletLocalMode: true });
  target.controlPlane.spec.version = "v1.36.0";
  await world.side.prepareRollout(target, world.context);
  expect((await uploaded(world))["featureGates"]).toBeUndefined();
});

test.each([
  ["no YAML", "a: [", "is not valid YAML"],
  ["another kind", "kind: Evil\n", "is no ClusterConfiguration"],
  ["nothing", undefined, "has no ClusterConfiguration"],
  ["a bomb", `kind: &a [${"x,".repeat(1000)}]\nb: [${"*a,".repeat(1000)}]\n`, "ClusterConfiguration"],
])("names the ConfigMap and its cure if it holds %s", async (_name, text, message) => {
  const world = await started();
  await world.client.patch(
    { kind: ConfigMap, ...KUBEADM_CONFIG },
    { data: { ClusterConfiguration: text === undefined ? null : text } },
  );
  const failure = world.side.prepareRollout(world.target(), world.context);
  await expect(failure).rejects.toThrow("ConfigMap kube-system/kubeadm-config");
  await expect(failure).rejects.toThrow(message);
  // The next call is not held back: the cluster responds.
  expect(await world.side.updateAddons(world.target(), world.context)).toMatchObject({ reason: "AddonsNotUpdated" });
});

test("reports and corrects a configuration that another client changed", async () => {
  const world = await started();
  await world.observe();
  await world.side.updateAddons(world.target(), world.context);
  world.events.length = 0;
  await world.side.updateAddons(world.target(), world.context);
  expect(world.events).toEqual([]);
  const text = (await world.client.get(ConfigMap, KUBEADM_CONFIG))?.data?.["ClusterConfiguration"] ?? "";
  await world.client.patch(
    { kind: ConfigMap, ...KUBEADM_CONFIG },
    { data: { ClusterConfiguration: text.replace("heartbeat-interval", "snapshot-count") } },
  );
  await world.clock.advance(1000);
  await world.side.updateAddons(world.target(), world.context);
  expect(world.events).toEqual([
    "Normal KubeadmConfigCorrected: The ConfigMap kube-system/kubeadm-config differed from the control plane in etcd and was corrected",
  ]);
  expect(await uploaded(world)).toMatchObject({ etcd: { local: { extraArgs: [{ name: "heartbeat-interval" }] } } });
});

const COREFILE =
  ".:53 {\n    # mine\n    kubernetes cluster.local {\n       endpoint https://a https://b\n       pods insecure\n    }\n}\n";

async function withAddons(world: World, coreDns = "registry.k8s.io/coredns/coredns:v1.14.2"): Promise<void> {
  const create = (kind: string, name: string, image: string, volumes: object[]) =>
    world.client.create({
      apiVersion: "apps/v1",
      kind,
      metadata: { namespace: "kube-system", name },
      spec: {
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name, image }], volumes },
        },
      },
    } as Unstructured);
  await create("DaemonSet", "kube-proxy", "registry.k8s.io/kube-proxy:v1.36.3", []);
  await create("Deployment", "coredns", coreDns, [
    { name: "config-volume", configMap: { name: "coredns", items: [{ key: "Corefile", path: "Corefile" }] } },
  ]);
  await world.client.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { namespace: "kube-system", name: "coredns" },
    data: { Corefile: COREFILE },
  } as Unstructured);
}

const DNS = { namespace: "kube-system", name: "coredns" };
const PROXY = { namespace: "kube-system", name: "kube-proxy" };
const imagesOf = async ({ client }: World) => [
  (await client.get(AddonDaemonSet, PROXY))?.spec?.template?.spec?.containers?.[0]?.image,
  (await client.get(AddonDeployment, DNS))?.spec?.template?.spec?.containers?.[0]?.image,
];

test("updates kube-proxy and CoreDNS, whose Corefile is migrated", async () => {
  const world = await started();
  await withAddons(world);
  expect(await world.side.updateAddons(world.target(), world.context)).toBeUndefined();
  expect(await imagesOf(world)).toEqual([
    "mirror.example/k8s/kube-proxy:v1.37.1",
    "mirror.example/k8s/coredns:v1.14.6",
  ]);
  expect((await world.client.get(ConfigMap, DNS))?.data).toEqual({
    Corefile: COREFILE.replace(" https://b", ""),
    "Corefile-backup": COREFILE,
  });
  expect((await world.client.get(AddonDeployment, DNS))?.spec?.template?.spec?.volumes).toMatchObject([
    { configMap: { items: [{ key: "Corefile" }] } },
  ]);
  expect(await uploaded(world)).toMatchObject({ dns: { imageTag: "v1.14.6" } });
});

test("finishes an update of CoreDNS that was interrupted", async () => {
  const world = await started();
  await withAddons(world);
  // The state after the second of the last steps: the copy runs, the Corefile is migrated.
  await world.client.patch(
    { kind: ConfigMap, ...DNS },
    { data: { Corefile: "migrated", "Corefile-backup": COREFILE } },
  );
  await world.client.patch({ kind: AddonDeployment, ...DNS }, [
    { op: "replace", path: "/spec/template/spec/volumes/0/configMap/items/0/key", value: "Corefile-backup" },
  ]);
  expect(await world.side.updateAddons(world.target(), world.context)).toBeUndefined();
  expect((await world.client.get(ConfigMap, DNS))?.data).toMatchObject({
    Corefile: COREFILE.replace(" https://b", ""),
    "Corefile-backup": COREFILE,
  });
  expect((await imagesOf(world))[1]).toBe("mirror.example/k8s/coredns:v1.14.6");
});

test("leaves add-ons alone whose owner manages them, and the version of CoreDNS without a tag", async () => {
  const world = await started({});
  await withAddons(world);
  const target = world.target();
  target.controlPlane.metadata.annotations = {
    "controlplane.cluster.x-k8s.io/skip-coredns": "",
    "controlplane.cluster.x-k8s.io/skip-kube-proxy": "",
  };
  await world.side.updateAddons(target, world.context);
  expect(await imagesOf(world)).toEqual([
    "registry.k8s.io/kube-proxy:v1.36.3",
    "registry.k8s.io/coredns/coredns:v1.14.2",
  ]);
  await world.side.updateAddons(world.target(), world.context);
  expect(await imagesOf(world)).toEqual([
    "registry.k8s.io/kube-proxy:v1.37.1",
    "registry.k8s.io/coredns/coredns:v1.14.2",
  ]);
});

test("refuses to migrate a Corefile for an older CoreDNS, and names the annotation", async () => {
  const world = await started();
  await withAddons(world, "registry.k8s.io/coredns/coredns:v1.14.7");
  const problem = await world.side.updateAddons(world.target(), world.context);
  expect(problem?.reason).toBe("CoreDNSNotMigratable");
  expect(problem?.message).toContain("controlplane.cluster.x-k8s.io/skip-coredns");
  expect((await world.client.get(ConfigMap, DNS))?.data).toEqual({ Corefile: COREFILE });
});

test("migrates only the option that newer versions ignore", () => {
  expect(migrateCorefile(COREFILE, "1.14.2")).toBe(COREFILE.replace(" https://b", ""));
  expect(migrateCorefile('. {\n  log "{"\n  endpoint a b\n}\n', "1.9.0")).toBe('. {\n  log "{"\n  endpoint a b\n}\n');
  expect(migrateCorefile(COREFILE, "1.8.0")).toBeUndefined();
});
