import { createServer as createHttps } from "node:https";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { seededRandom, systemClock } from "@capstan/apimachinery";
import { Secret, type WorkloadClusters, type WorkloadConnection } from "@capstan/capi";
import { BACKDATE_MS, type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { openDialGate } from "@capstan/runtime";
import { afterEach, beforeAll, expect, test } from "vitest";
import { forwardingApi } from "../testing/port-forward.ts";
import { createEtcdWays } from "./create-etcd-ways.ts";

const CLUSTER = { namespace: "default", name: "c1" };
const NODE = "node-1";
const random = seededRandom(1);
const common = { validMs: 3_600_000, random, algorithm: "ECDSA-P256" } as const;
let ca: CertificateAndKey;
let foreign: CertificateAndKey;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const notBeforeMs = systemClock.now() - BACKDATE_MS;
  ca = await createCertificateAuthority({ commonName: "etcd-ca", notBeforeMs, ...common });
  foreign = await createCertificateAuthority({ commonName: "etcd-ca", notBeforeMs, ...common });
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** A member of etcd that proves to be the one of a Node, and wants a client certificate of its own authority. */
async function member(host: string, { port = 0, node = NODE, authority = ca } = {}): Promise<number> {
  const nowMs = systemClock.now();
  const leaf = await issueCertificate(authority, {
    commonName: node,
    dnsNames: [node, "localhost"],
    ipAddresses: [host],
    usages: ["server"],
    nowMs,
    ...common,
  });
  const server = createHttps(
    { ca: authority.certPem, cert: leaf.certPem, key: leaf.keyPem, requestCert: true, rejectUnauthorized: true },
    (_request, response) => response.end(JSON.stringify({ header: { member_id: host.replaceAll(".", "") } })),
  );
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

/** A port that takes connections and says nothing, as a machine does whose etcd hangs. */
async function silent(host: string, port = 0): Promise<number> {
  const server = createTcp((socket) => socket.on("error", () => undefined));
  const open = new Set<{ destroy(): void }>();
  server.on("connection", (socket) => open.add(socket));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  closers.push(() => {
    for (const socket of open) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function api(to: Parameters<typeof forwardingApi>[0]) {
  const made = await forwardingApi(to);
  closers.push(made.close);
  const connection = { state: "connected", since: 0, client: made.client, nodes: {} } as unknown as WorkloadConnection;
  return { ...made, connection };
}

const DOWN: WorkloadConnection = { state: "down", since: 0, error: "the virtual IP is dead" };

function waysWith(workloads: Partial<WorkloadClusters>, port: number) {
  const data = {
    "tls.crt": Buffer.from(ca.certPem).toString("base64"),
    "tls.key": Buffer.from(ca.keyPem).toString("base64"),
  };
  const secret = { apiVersion: "v1", kind: Secret.kind, metadata: { ...CLUSTER, name: "c1-etcd" }, data } as Secret;
  const ways = createEtcdWays({
    workloads: { get: () => DOWN, subscribe: () => () => undefined, ...workloads },
    secret: () => Promise.resolve(secret),
    gate: openDialGate(),
    clock: systemClock,
    random,
    port,
  });
  /** The id that the member which was reached says of itself. */
  return async (...addresses: string[]): Promise<string> => {
    const { client, endpoint } = await ways.open(CLUSTER, { machine: "m1", nodeName: NODE, addresses });
    return (await client.status(endpoint)).memberId;
  };
}

test("through the API's port-forward, to the static pod of the Node", async () => {
  const port = await member("127.0.0.2");
  const { connection, asked } = await api({ host: "127.0.0.2", port });
  // Nothing listens at the Machine's address.
  const reached = waysWith({ get: () => connection }, port);
  expect(await reached("127.0.0.9")).toBe("127002");
  expect(asked[0]).toBe(`/api/v1/namespaces/kube-system/pods/etcd-${NODE}/portforward?ports=${port}`);
});

test("directly at the Machine's address while the API does not answer", async () => {
  const port = await member("127.0.0.2");
  expect(await waysWith({}, port)("127.0.0.2")).toBe("127002");
});

test("directly, although the API answers, when the kubelet has stopped and nothing comes through the port-forward", async () => {
  const port = await member("127.0.0.2");
  const { connection, asked } = await api("silent");
  const reached = waysWith({ get: () => connection }, port);
  expect(await reached("127.0.0.2")).toBe("127002");
  expect(asked).toHaveLength(1);
  // What has answered is asked first from then on: neither waits nor asks the kubelet again.
  expect(await reached("127.0.0.2")).toBe("127002");
  expect(asked).toHaveLength(1);
});

test("through the port-forward of an API that is reached at the Machines, while the endpoint is dead and 2379 is closed", async () => {
  const port = await member("127.0.0.2");
  const { connection, asked } = await api({ host: "127.0.0.2", port });
  const reached = waysWith({ atMachines: () => connection }, port);
  expect(await reached("127.0.0.9")).toBe("127002");
  expect(asked).toHaveLength(1);
});

test("at the first of several addresses that answers", async () => {
  const port = await member("127.0.0.2");
  await silent("127.0.0.3", port);
  expect(await waysWith({}, port)("not an address", "127.0.0.9", "127.0.0.2")).toBe("127002");
});

test("never to a member of another Node, and never to another cluster's etcd", async () => {
  const other = await member("127.0.0.2", { node: "node-2" });
  await expect(waysWith({}, other)("127.0.0.2")).rejects.toThrow(/Host: node-1\. is not in the cert's altnames/);
  const strange = await member("127.0.0.4", { authority: foreign });
  await expect(waysWith({}, strange)("127.0.0.4")).rejects.toThrow(/directly at the Machine's address: .*certificate/);
});

test("says what each way answered when none leads there", async () => {
  const port = await member("127.0.0.2");
  const reached = waysWith({}, port);
  await expect(reached("127.0.0.9")).rejects.toThrow(
    /^etcd on Node node-1 cannot be reached: .*directly at the Machine's address: .*ECONNREFUSED/,
  );
  await expect(reached("127.0.0.9")).rejects.toThrow(
    "through the API's port-forward: the API of the cluster does not answer: the virtual IP is dead",
  );
  await expect(reached()).rejects.toThrow("the Machine reports no IP address");
});
