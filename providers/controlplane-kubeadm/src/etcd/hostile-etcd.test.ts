import { type AddressInfo, createServer, type Server } from "node:net";
import { seededRandom, systemClock } from "@capstan/apimachinery";
import { type Machine, Secret, type WorkloadClusters } from "@capstan/capi";
import type { EtcdClient } from "@capstan/etcd";
import { BACKDATE_MS, createCertificateAuthority } from "@capstan/pki";
import { systemDialGate } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inspectEtcd } from "../workload/etcd-inspection.ts";
import { etcdSight } from "../workload/etcd-members.ts";
import { createEtcdWays } from "./create-etcd-ways.ts";

/** Machines' addresses, Nodes' names and what etcd answers are a tenant's; the manager dials and reads them. */
const CLUSTER = { namespace: "default", name: "c1" };

let server: Server;
let connections = 0;
beforeEach(async () => {
  connections = 0;
  server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

/** Ways to a Machine whose addresses a tenant has chosen. */
async function waysTo(port: number) {
  const authority = await createCertificateAuthority({
    commonName: "etcd-ca",
    algorithm: "ECDSA-P256",
    validMs: 3_600_000,
    random: seededRandom(1),
    notBeforeMs: systemClock.now() - BACKDATE_MS,
  });
  const data = {
    "tls.crt": Buffer.from(authority.certPem).toString("base64"),
    "tls.key": Buffer.from(authority.keyPem).toString("base64"),
  };
  const secret = { apiVersion: "v1", kind: Secret.kind, metadata: { ...CLUSTER, name: "c1-etcd" }, data } as Secret;
  const workloads = { get: () => ({ state: "disconnected", error: "no answer" }) };
  return createEtcdWays({
    workloads: workloads as unknown as WorkloadClusters,
    secret: () => Promise.resolve(secret),
    gate: systemDialGate(),
    clock: systemClock,
    random: seededRandom(1),
    port,
  });
}

test.each(["127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0", "169.254.169.254"])(
  "does not look for etcd at %s",
  async (address) => {
    const ways = await waysTo((server.address() as AddressInfo).port);
    const opened = ways.open(CLUSTER, { machine: "m1", nodeName: "node-1", addresses: [address] });
    await expect(opened).rejects.toThrow(/--allow-address|reports no IP address/);
    expect(connections).toBe(0);
  },
);

test.each(["../../etc/passwd", "a:b@127.0.0.1", "x/y", "localhost#", ""])(
  "does not ask for a pod of a Node with the name %j",
  async (nodeName) => {
    const ways = await waysTo((server.address() as AddressInfo).port);
    const opened = ways.open(CLUSTER, { machine: "m1", nodeName, addresses: ["127.0.0.1"] });
    await expect(opened).rejects.toThrow(/is not the name of a Node/);
  },
);

test("an etcd that answers without measure makes no condition that the API refuses", async () => {
  const long = "x".repeat(100_000);
  const client = (listed: number): EtcdClient =>
    ({
      status: () => Promise.resolve({ memberId: `0${long}`, clusterId: long, leader: long, dbSize: Number.NaN }),
      members: () =>
        Promise.resolve(
          Array.from({ length: listed }, (_, index) => ({
            id: `${index}${long}`,
            name: `${index}${long}`,
            peerUrls: Array.from({ length: 500 }, () => long),
            clientUrls: [long],
            isLearner: false,
          })),
        ),
      alarms: () =>
        Promise.resolve(
          Array.from({ length: 5_000 }, (_, index) => ({ memberId: `0${long}`, alarm: `${index}${long}` })),
        ),
      metrics: () => Promise.resolve("etcd_server_leader_changes_seen_total NaN\n".repeat(10_000)),
    }) as unknown as EtcdClient;
  const machine = {
    metadata: { ...CLUSTER, name: "m1" },
    status: { nodeRef: { name: "node-1" } },
  } as unknown as Machine;
  const places = ["node-1", "node-2"].map((nodeName) => ({ machine: "m1", nodeName, addresses: [] }));
  for (const [one, other] of [
    [64, 64],
    [64, 63],
    [65, 10_000],
  ] as const) {
    const ways = {
      open: (_cluster: object, { nodeName }: { nodeName: string }) =>
        Promise.resolve({ client: client(nodeName === "node-1" ? one : other), endpoint: `https://${nodeName}:2379` }),
      forget: () => undefined,
    };
    const inspections = await inspectEtcd(ways, CLUSTER, places, systemClock);
    const { health, members } = etcdSight([machine], [{ nodeName: "node-1", addresses: [] }], inspections);
    // Conditions have at most 32768 characters, and a control plane has one with those of all its Machines.
    expect(JSON.stringify([...health.values()]).length).toBeLessThan(4_000);
    if ("unknown" in members) expect(members.unknown.length).toBeLessThan(4_000);
    expect("unknown" in members).toBe(one !== other);
  }
});
