import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { clusterNetwork, TOKEN_GROUP } from "@capstan/controlplane";
import { Client } from "@capstan/runtime";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { absentObjects, applyObjects, clusterObjects, type PrepareInput, removeObjects } from "./prepare-cluster.ts";

const input: PrepareInput = {
  clusterName: "c1",
  version: "v1.34.4",
  endpoint: { host: "10.89.0.1", port: 6443 },
  network: clusterNetwork(undefined),
  imageRepository: "registry.k8s.io",
  caPem: "PEM",
  spec: { version: "v1.34.4" },
};
const objects = clusterObjects(input);

const find = (kind: string, name: string, namespace?: string): Unstructured => {
  const found = objects.find((o) => o.kind === kind && o.metadata.name === name && o.metadata.namespace === namespace);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
};

test("creates cluster-info, which anonymous users may read, and nothing else", () => {
  find("ConfigMap", "cluster-info", "kube-public");
  const role = find("Role", "kubeadm:bootstrap-signer-clusterinfo", "kube-public");
  expect(role["rules"]).toEqual([
    { apiGroups: [""], resources: ["configmaps"], resourceNames: ["cluster-info"], verbs: ["get"] },
  ]);
  const forAnonymous = objects.filter((o) => JSON.stringify(o["subjects"] ?? []).includes("system:anonymous"));
  expect(forAnonymous.map((o) => `${o.kind} ${o.metadata.name}`)).toEqual([
    "RoleBinding kubeadm:bootstrap-signer-clusterinfo",
  ]);
});

test("a joining kubelet may request a certificate, which is approved", () => {
  const subjects = [{ kind: "Group", name: TOKEN_GROUP, apiGroup: "rbac.authorization.k8s.io" }];
  expect(find("ClusterRoleBinding", "kubeadm:kubelet-bootstrap")).toMatchObject({
    roleRef: { name: "system:node-bootstrapper" },
    subjects,
  });
  expect(find("ClusterRoleBinding", "kubeadm:node-autoapprove-bootstrap")).toMatchObject({
    roleRef: { name: "system:certificates.k8s.io:certificatesigningrequests:nodeclient" },
    subjects,
  });
});

test("kubeadm-config has the certificate path of the node, not of the control plane", () => {
  const config = find("ConfigMap", "kubeadm-config", "kube-system") as unknown as { data: Record<string, string> };
  expect(parse(config.data["ClusterConfiguration"] ?? "")).toMatchObject({
    apiVersion: "kubeadm.k8s.io/v1beta4",
    certificatesDir: "/etc/kubernetes/pki",
    controlPlaneEndpoint: "10.89.0.1:6443",
    kubernetesVersion: "v1.34.4",
  });
});

test("kubernetes.default points to the endpoint, unless that is a loopback address", () => {
  expect(find("EndpointSlice", "kubernetes", "default")).toMatchObject({
    endpoints: [{ addresses: ["10.89.0.1"] }],
    ports: [{ port: 6443 }],
  });
  const local = clusterObjects({
    clusterName: "c1",
    version: "v1.34.4",
    endpoint: { host: "127.0.0.1", port: 6443 },
    network: clusterNetwork(undefined),
    imageRepository: "r",
    caPem: "PEM",
    spec: { version: "v1.34.4", addons: { coreDNS: { enabled: false }, kubeProxy: { enabled: false } } },
  });
  expect(local.filter((o) => o.kind.startsWith("Endpoint"))).toEqual([]);
  expect(local.filter((o) => o.kind === "Deployment" || o.kind === "DaemonSet")).toEqual([]);
});

test("creates konnectivity agents only if there is a server", () => {
  const of = (list: readonly Unstructured[]) => list.filter((o) => JSON.stringify(o.metadata).includes("konnectivity"));
  expect(of(objects)).toEqual([]);
  const made = of(clusterObjects({ ...input, konnectivity: { host: "10.89.0.1", port: 30132 } }));
  expect(made.map((o) => `${o.kind} ${o.metadata.name}`)).toEqual([
    "ServiceAccount konnectivity-agent",
    "ClusterRoleBinding system:konnectivity-server",
    "DaemonSet konnectivity-agent",
  ]);
  expect(made[1]).toMatchObject({
    roleRef: { kind: "ClusterRole", name: "system:auth-delegator" },
    subjects: [{ kind: "User", name: "system:konnectivity-server" }],
  });
  const text = JSON.stringify(made[2]);
  for (const part of [
    "registry.k8s.io/kas-network-proxy/proxy-agent:v0.34.0",
    "--proxy-server-host=10.89.0.1",
    "--proxy-server-port=30132",
    '"audience":"system:konnectivity-server"',
  ])
    expect(text).toContain(part);
});

test("deletes a disabled add-on that it created; keeps an object of the same name of another manager", async () => {
  const clock = new VirtualClock();
  const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
  const ours = new Client(server.admin(), { fieldManager: "capstan", clock });
  const theirs = new Client(server.admin(), { fieldManager: "helm", clock });
  const signal = new AbortController().signal;
  const off: PrepareInput = {
    ...input,
    spec: { ...input.spec, addons: { coreDNS: { enabled: false }, kubeProxy: { enabled: false } } },
  };
  const addons = absentObjects(off);
  expect(absentObjects(input)).toEqual([]);
  await ours.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } });
  await applyObjects(ours, addons, signal);
  const proxy = addons.find(({ kind }) => kind === "DaemonSet") ?? expect.fail("no DaemonSet");
  const { metadata, ...rest } = proxy;
  await theirs.apply({ ...rest, metadata: { ...metadata, labels: { their: "label" } } });
  await removeObjects(ours, addons, signal);
  const left: string[] = [];
  for (const object of addons) {
    const { namespace, name = "" } = object.metadata;
    if ((await ours.get(await ours.kindOf(object), { namespace, name })) !== undefined) left.push(object.kind);
  }
  expect(left).toEqual(["DaemonSet"]);
  await server.close();
});
