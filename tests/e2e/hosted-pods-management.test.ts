import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePorts } from "../real-kubernetes/index.ts";
import { Capstan } from "./capstan/instance.ts";
import { CapstanManager } from "./capstan/manager.ts";
import { controlPlaneImages, eventually, Lab, type Node, timed, workerImages } from "./harness/index.ts";
import { HostedWorld } from "./hosted-world.ts";

/** A hosted cluster becomes a management cluster: controllers work on it, control planes are pods on its own nodes. */
let lab: Lab;
let capstan: Capstan;
let manager: CapstanManager;
let host: HostedWorld;
let tenant: HostedWorld;
let hostNode: Node;
let tenantNode: Node;

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const example = fileURLToPath(new URL("../../docs/examples/hosted.yaml", import.meta.url));
/** As in hosted-pods.yaml, but here: no host cluster, the placement of such a manager, three members whose data may go. */
const TENANT = {
  apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
  kind: "HostedControlPlane",
  metadata: { name: "tenant", namespace: "default" },
  spec: { version: "v1.34.4", expose: { type: "NodePort" }, etcd: { replicas: 3, storage: { type: "EmptyDir" } } },
};
const CLUSTER = {
  apiVersion: "cluster.x-k8s.io/v1beta2",
  kind: "Cluster",
  metadata: { name: "tenant", namespace: "default" },
  spec: {
    controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name: "tenant" },
  },
};

beforeAll(async () => {
  lab = await Lab.open();
  hostNode = lab.addNode("h1");
  tenantNode = lab.addNode("t1");
  capstan = await timed("capstan up", () => Capstan.start(lab.gateway));
  host = new HostedWorld(capstan, lab);
  await capstan.kubectl("apply", "-f", example, "-f", file("hosted-kind.yaml"));
  await timed("two nodes booted, images imported", async () => {
    await Promise.all([hostNode.start(), tenantNode.start()]);
    const images = (names: readonly (keyof typeof lab.images)[]) => names.map((name) => lab.images[name]);
    await hostNode.importImages(images([...workerImages, ...controlPlaneImages, "proxy-server"]));
    await tenantNode.importImages(images([...workerImages, "proxy-agent"]));
  });
  await host.available();
  await host.connect();
  await host.kubectl("apply", "-f", file("cni.yaml"));
  await host.join(hostNode);
  await timed("node Ready", () => eventually("a Ready node", async () => (await host.readyNodes()) === 1));
  await timed("coredns", () => host.rolledOut("kube-system", "deployment/coredns"));
  const [port = 0] = await freePorts(1, lab.gateway);
  manager = await timed("capstan manager on it", () => CapstanManager.start(host.kubeconfig, `${lab.gateway}:${port}`));
  tenant = new HostedWorld(manager, lab, "tenant");
});

afterAll(async () => {
  await manager?.close();
  await capstan?.close();
  await lab?.close();
  host?.close();
  tenant?.close();
});

test("a control plane that says nothing of its place runs as pods beside its own objects", async () => {
  await manager.kubectl("apply", "-f", file("hosted-kind.yaml"));
  for (const object of [CLUSTER, TENANT]) await manager.kubectlWithInput(JSON.stringify(object), "apply", "-f", "-");
  await timed("applied to Available", () => tenant.available(180_000));
  const pods = await host.kubectl("get", "pods", "-l", "capstan.dev/hosted=tenant", "-o", "name");
  expect(pods.trim().split("\n")).toHaveLength(6);
});

test("a real node joins it and becomes Ready", async () => {
  await tenant.connect();
  await tenant.kubectl("apply", "-f", file("cni.yaml"));
  expect(await timed("user data", () => tenant.join(tenantNode))).toContain("This node has joined the cluster");
  await timed("node Ready", () => eventually("a Ready node", async () => (await tenant.readyNodes()) === 1));
});

/** Ids of etcd's members that have started. */
async function members(): Promise<string[]> {
  const key = (name: string): string => `/etc/kubernetes/pki/etcd/${name}`;
  const keys = [`--cacert=${key("ca.crt")}`, `--cert=${key("peer.crt")}`, `--key=${key("peer.key")}`];
  const list = ["etcdctl", "--endpoints=https://127.0.0.1:2379", ...keys, "member", "list"];
  const lines = (await host.kubectl("exec", "tenant-etcd-0-0", "--", ...list)).trim().split("\n");
  return lines.flatMap((line) => (line.includes(", started,") ? (line.split(",")[0] ?? []) : [])).toSorted();
}

test("a member whose data went with its pod is taken in again, while the API answers", async () => {
  await tenant.kubectl("create", "configmap", "before");
  const before = await members();
  expect(before).toHaveLength(3);
  const stop = tenant.askApi();
  await host.kubectl("delete", "pod", "tenant-etcd-2-0");
  await timed("taken in again", () =>
    eventually(
      "another member",
      async () => {
        const now = await members();
        if (now.length !== 3 || now.join() === before.join()) throw new Error(await tenant.condition("UpToDate"));
        return (await tenant.condition("EtcdClusterHealthy")).startsWith("True");
      },
      { timeout: 120_000 },
    ),
  );
  expect((await members()).filter((id) => before.includes(id))).toHaveLength(2);
  expect((await stop()).longestOutageMs).toBeLessThan(5000);
  expect(await tenant.kubectl("get", "cm", "before", "-o", "name")).toContain("before");
});

test("without a manager it goes on, and the next one changes nothing", async () => {
  const uids = (): Promise<string> =>
    host.kubectl("get", "pods", "-l", "capstan.dev/hosted=tenant", "-o", "jsonpath={.items[*].metadata.uid}");
  const before = await uids();
  await manager.close();
  expect(await tenant.kubectl("get", "--raw", "/readyz")).toBe("ok");
  const [port = 0] = await freePorts(1, lab.gateway);
  manager = await timed("another manager", () => CapstanManager.start(host.kubeconfig, `${lab.gateway}:${port}`));
  await eventually("its word", async () =>
    (await manager.kubectl("get", "hcp", "tenant", "-o", "jsonpath={.status.conditions[0].status}")).startsWith("True"),
  );
  expect(await uids()).toBe(before);
});

test("deleting the Cluster leaves nothing of it", async () => {
  await timed("tenant deleted", () => manager.kubectl("delete", "cluster", "tenant", "--timeout=120s"));
  const kinds = "deployments,statefulsets,pods,services,poddisruptionbudgets,networkpolicies,secrets,pvc";
  expect(await host.kubectl("get", kinds, "-A", "-l", "capstan.dev/hosted", "-o", "name")).toBe("");
});
