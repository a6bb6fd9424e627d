import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { seededRandom, systemClock } from "@capstan/apimachinery";
import { BACKDATE_MS, type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { type ClientConfig, fixedCredentials, httpTransport, openDialGate, systemDialGate } from "@capstan/runtime";
import { afterEach, beforeAll, expect, test } from "vitest";
import type { Machine } from "../kinds/machine.ts";
import { throughMachines } from "./machine-ways.ts";

const random = seededRandom(1);
const common = { validMs: 3_600_000, random, algorithm: "ECDSA-P256" } as const;
let ca: CertificateAndKey;
let foreign: CertificateAndKey;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const notBeforeMs = systemClock.now() - BACKDATE_MS;
  ca = await createCertificateAuthority({ commonName: "kubernetes", notBeforeMs, ...common });
  foreign = await createCertificateAuthority({ commonName: "kubernetes", notBeforeMs, ...common });
});

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** The API server of a Machine, with a certificate for the endpoint; says who asks it with which token. */
async function apiServer(host: string, { port = 0, names = ["api.example"], authority = ca } = {}) {
  const leaf = await issueCertificate(authority, {
    commonName: "kube-apiserver",
    dnsNames: names.filter((name) => !/^[\d.]+$/.test(name)),
    ipAddresses: names.filter((name) => /^[\d.]+$/.test(name)),
    usages: ["server"],
    nowMs: systemClock.now(),
    ...common,
  });
  const seen: (string | undefined)[] = [];
  const server = createServer({ cert: leaf.certPem, key: leaf.keyPem }, (request, response) => {
    seen.push(request.headers.authorization);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ host }));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

const machine = (addresses: string[], joined = true): Machine =>
  ({
    metadata: { namespace: "default", name: "m" },
    spec: { clusterName: "c" },
    status: {
      addresses: addresses.map((address) => ({ type: "InternalIP", address })),
      ...(joined ? { nodeRef: { name: "n" } } : {}),
    },
  }) as unknown as Machine;

function config(server: string, more: Partial<ClientConfig> = {}): ClientConfig {
  return { server, tls: { caPem: ca.certPem }, credentials: fixedCredentials({ token: "t" }), ...more };
}

/** What a request through the Machines gets back. */
async function asked(of: ClientConfig, machines: Machine[], gate = openDialGate()): Promise<unknown> {
  const through = throughMachines(of, { clock: systemClock, gate, machines: () => machines });
  const transport = httpTransport(through, { clock: systemClock });
  closers.push(() => transport.close());
  return (await transport.request({ method: "GET", path: "/version" })).body;
}

test("an API whose endpoint is dead answers at a Machine that has joined", async () => {
  const { port, seen } = await apiServer("127.0.0.2");
  const machines = [machine(["127.0.0.9"]), machine(["node.example", "127.0.0.2"])];
  // Nobody knows the endpoint's name.
  expect(await asked(config(`https://api.example:${port}`), machines)).toEqual({ host: "127.0.0.2" });
  expect(seen).toEqual(["Bearer t"]);
});

test("an endpoint that is an address is proven by the certificate too", async () => {
  const { port } = await apiServer("127.0.0.2", { names: ["127.0.0.8"] });
  expect(await asked(config(`https://127.0.0.8:${port}`), [machine(["127.0.0.2"])])).toEqual({ host: "127.0.0.2" });
});

test("whoever has neither the authority nor the name of the endpoint does not get the token, and the next Machine is asked", async () => {
  const stranger = await apiServer("127.0.0.3", { authority: foreign });
  const { port } = stranger;
  const misnamed = await apiServer("127.0.0.4", { port, names: ["other.example"] });
  const server = `https://api.example:${port}`;
  await expect(asked(config(server), [machine(["127.0.0.3"]), machine(["127.0.0.4"])])).rejects.toThrow(
    /127\.0\.0\.3 port \d+: .*certificate.*127\.0\.0\.4 port \d+: .*altnames/,
  );
  await apiServer("127.0.0.2", { port });
  expect(await asked(config(server), [machine(["127.0.0.3", "127.0.0.4", "127.0.0.2"])])).toEqual({
    host: "127.0.0.2",
  });
  expect([...stranger.seen, ...misnamed.seen]).toEqual([]);
});

test("an endpoint that belongs to another cluster gets no token, and its Machines are reached nevertheless", async () => {
  const other = await apiServer("127.0.0.8", { names: ["127.0.0.8"], authority: foreign });
  const of = config(`https://127.0.0.8:${other.port}`);
  const direct = httpTransport({ ...of, gate: openDialGate() }, { clock: systemClock });
  closers.push(() => direct.close());
  await expect(direct.request({ method: "GET", path: "/version" })).rejects.toThrow(
    /^https:\/\/127\.0\.0\.8:\d+ cannot be reached: .*certificate/,
  );
  await apiServer("127.0.0.2", { port: other.port, names: ["127.0.0.8"] });
  expect(await asked(of, [machine(["127.0.0.2"])])).toEqual({ host: "127.0.0.2" });
  expect(other.seen).toEqual([]);
});

test("a Machine that is silent does not hold up the others", async () => {
  const { port } = await apiServer("127.0.0.2");
  const open = new Set<{ destroy(): void }>();
  const mute = createTcp((socket) => void open.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => mute.listen(port, "127.0.0.3", resolve));
  closers.push(() => {
    for (const socket of open) socket.destroy();
    return new Promise((resolve) => mute.close(resolve));
  });
  const machines = [machine(["127.0.0.3"]), machine(["127.0.0.2"])];
  expect(await asked(config(`https://api.example:${port}`), machines)).toEqual({ host: "127.0.0.2" });
});

test("addresses that the manager does not dial are refused, as everywhere", async () => {
  const { port, seen } = await apiServer("127.0.0.2");
  await expect(
    asked(config(`https://api.example:${port}`), [machine(["127.0.0.2"])], systemDialGate()),
  ).rejects.toThrow(/--allow-address/);
  expect(seen).toEqual([]);
});

test("Machines that have not joined are not asked: a control plane starts at its endpoint", async () => {
  const { port, seen } = await apiServer("127.0.0.2");
  await expect(asked(config(`https://api.example:${port}`), [machine(["127.0.0.2"], false)])).rejects.toThrow(
    "no control plane Machine with a Node reports an IP address",
  );
  expect(seen).toEqual([]);
});

test.each<[string, Partial<ClientConfig>]>([
  ["without an authority", { tls: {} }],
  ["that accepts any certificate", { tls: { caPem: "x", insecure: true } }],
  ["without TLS", { server: "http://api.example:6443" }],
  ["with a proxy", { proxyUrl: "http://proxy.example:1080" }],
])("a kubeconfig %s leads to no Machine", (_, more) => {
  const deps = { clock: systemClock, gate: openDialGate(), machines: () => [machine(["127.0.0.2"])] };
  expect(() => throughMachines(config("https://api.example:6443", more), deps)).toThrow(/no authority|names a proxy/);
});
