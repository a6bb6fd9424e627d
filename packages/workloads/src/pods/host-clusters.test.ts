import { type KubeObject, seededRandom, type Unstructured, type VirtualClock } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { buildKubeconfig } from "@capstan/pki";
import { Client, openDialGate, silentLogger } from "@capstan/runtime";
import { FaultyTransport } from "@capstan/runtime/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PodCluster } from "../testing/pod-cluster.ts";
import { HOSTED_LABEL, NameTakenError, OWNER_ANNOTATION } from "./host-cluster.ts";
import { HostClusters } from "./host-clusters.ts";
import { HostSecret } from "./kinds.ts";

let cluster: PodCluster;
let clock: VirtualClock;
let server: ApiServer;
let transports: FaultyTransport[];
let hosts: HostClusters;

beforeEach(async () => {
  cluster = await PodCluster.open();
  ({ clock, server } = cluster);
  transports = [];
  hosts = new HostClusters({
    gate: openDialGate(),
    management: undefined,
    fieldManager: "test",
    clock,
    random: seededRandom(2),
    log: silentLogger,
    dial: () => {
      const transport = new FaultyTransport(server.admin(), seededRandom(3));
      transports.push(transport);
      return transport;
    },
  });
});

afterEach(async () => {
  await hosts.stop();
  await cluster.close();
});

const kubeconfig = (user: string): string =>
  buildKubeconfig({
    server: "https://192.0.2.1:6443",
    caPem: "",
    clusterName: "host",
    userName: user,
    contextName: "host",
    token: user,
  });

const secret = (name: string, owner?: string): HostSecret => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    namespace: "default",
    name,
    ...(owner === undefined ? {} : { labels: { [HOSTED_LABEL]: "c1" }, annotations: { [OWNER_ANNOTATION]: owner } }),
  },
});

/** Lets watches deliver. */
const turn = (): Promise<void> => clock.advance(100);

test("one connection per kubeconfig; another text under the same name replaces it", async () => {
  const first = await hosts.named("default/c1", "default/host", kubeconfig("a"));
  expect(await hosts.named("default/c1", "default/host", kubeconfig("a"))).toBe(first);
  expect(transports).toHaveLength(1);
  expect(await hosts.named("default/c1", "default/host", kubeconfig("b"))).not.toBe(first);
  expect(transports).toHaveLength(2);
});

test("closes a connection that is no longer needed", async () => {
  const first = await hosts.named("default/c1", "default/host", kubeconfig("a"));
  expect(await hosts.named("default/c2", "default/host", kubeconfig("a"))).toBe(first);
  hosts.release("default/c1");
  expect(await hosts.named("default/c2", "default/host", kubeconfig("a"))).toBe(first);
  hosts.release("default/c2");
  hosts.release("default/c2");
  expect(await hosts.named("default/c3", "default/host", kubeconfig("a"))).not.toBe(first);
});

test("reports the owner of a changed object; objects of other owners are neither seen nor touched", async () => {
  const told: string[] = [];
  hosts.subscribe((owner) => told.push(owner));
  const host = await hosts.named("default/c1", "default/host", kubeconfig("a"));
  const ready = host.ready();
  await turn();
  await ready;
  const user = new Client(server.admin(), { fieldManager: "user", clock });
  await user.create(secret("theirs") as unknown as Unstructured);
  await host.ensure(HostSecret, secret("ours", "default/c1"));
  await turn();
  expect(new Set(told)).toEqual(new Set(["default/c1"]));
  expect(host.of(HostSecret, "default/c1").map((object: KubeObject) => object.metadata.name)).toEqual(["ours"]);
  await expect(host.ensure(HostSecret, secret("theirs", "default/c1"))).rejects.toThrow(NameTakenError);
  expect(await host.removeAll("default/c1")).toEqual([]);
  expect(await user.get(HostSecret, { namespace: "default", name: "ours" })).toBeUndefined();
  expect(await user.get(HostSecret, { namespace: "default", name: "theirs" })).toBeDefined();
});

test("an object of another namespace has no owner, whatever its annotation says", async () => {
  const host = await hosts.named("default/c1", "default/host", kubeconfig("a"));
  const ready = host.ready();
  await turn();
  await ready;
  const user = new Client(server.admin(), { fieldManager: "user", clock });
  const metadata = {
    ...secret("a", "default/c1").metadata,
    namespace: "kube-public",
    finalizers: ["example.com/stay"],
  };
  await user.create({ ...secret("a"), metadata } as unknown as Unstructured);
  await turn();
  expect(host.of(HostSecret, "default/c1")).toEqual([]);
  expect(await host.removeAll("default/c1"), "nothing to wait for").toEqual([]);
  const there = await user.get(HostSecret, { namespace: "kube-public", name: "a" });
  expect(there?.metadata.deletionTimestamp).toBeUndefined();
});

test("a cluster that does not answer says why; one that answers again is ready again", async () => {
  const host = await hosts.named("default/c1", "default/host", kubeconfig("a"));
  const [transport] = transports;
  if (transport === undefined) throw new Error("not dialled");
  transport.down = true;
  const failed = expect(host.ready()).rejects.toThrow(/^connection re(fused|set)/);
  await clock.advance(5_000);
  await failed;
  transport.down = false;
  await clock.advance(60_000);
  const ready = host.ready();
  await turn();
  await ready;
});
