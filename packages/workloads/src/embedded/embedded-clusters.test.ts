import { once } from "node:events";
import { connect } from "node:net";
import { seededRandom, systemClock, systemRandom, VirtualClock } from "@capstan/apimachinery";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate, publicKeyPin } from "@capstan/pki";
import { Client, type ClientConfig, fixedCredentials, httpTransport, kindRef, openDialGate } from "@capstan/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { type EmbeddedCluster, EmbeddedClusters } from "./embedded-clusters.ts";

const NamespaceKind = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });
const HOUR_MS = 3600_000;
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Made {
  cluster: EmbeddedCluster;
  ca: CertificateAndKey;
  admin: CertificateAndKey;
}

async function make(clusters: EmbeddedClusters, owner: string, nowMs: number): Promise<Made> {
  const random = systemRandom;
  const ca = await createCertificateAuthority({
    commonName: "k",
    notBeforeMs: nowMs - HOUR_MS,
    validMs: 9 * HOUR_MS,
    random,
  });
  const leaf = { nowMs, validMs: HOUR_MS, random };
  const admin = await issueCertificate(ca, {
    commonName: "a",
    organizations: ["system:masters"],
    usages: ["client"],
    ...leaf,
  });
  const serving = (name: string): Promise<CertificateAndKey> =>
    issueCertificate(ca, { commonName: "kube-apiserver", dnsNames: [name], usages: ["server"], ...leaf });
  return { cluster: await clusters.ensure(owner, { ca, serving }), ca, admin };
}

function configFor({ cluster, ca, admin }: Made, endpoint: string): ClientConfig {
  return {
    server: `https://${endpoint}${cluster.path}`,
    tls: { caPem: ca.certPem, serverName: cluster.serverName },
    credentials: fixedCredentials(admin),
  };
}

const list = (transport: ReturnType<typeof httpTransport>): Promise<unknown> => {
  closing.push(() => transport.close());
  const client = new Client(transport, { fieldManager: "test", clock: systemClock });
  return client.list(NamespaceKind).then(({ items }) => items.length);
};

describe("embedded clusters in process", () => {
  const start = async () => {
    const clock = new VirtualClock();
    const clusters = new EmbeddedClusters({
      gate: openDialGate(),
      clock,
      random: seededRandom(1),
      log: () => undefined,
    });
    closing.push(() => clusters.close());
    return {
      clusters,
      one: await make(clusters, "ns/one", clock.now()),
      two: await make(clusters, "ns/two", clock.now()),
    };
  };
  const dial = (clusters: EmbeddedClusters, config: ClientConfig) => {
    const transport = clusters.dial(config);
    if (transport === undefined) throw new Error("the call names no cluster");
    return list(transport);
  };

  test("each is reached under its path, by its own administrator", async () => {
    const { clusters, one, two } = await start();
    expect(await dial(clusters, configFor(one, "127.0.0.1:6443"))).toBe(4);
    const other = { ...configFor(two, "127.0.0.1:6443"), credentials: fixedCredentials(one.admin) };
    await expect(dial(clusters, other)).rejects.toThrow(/not signed by the cluster's authority/);
    const distrusting = { ...configFor(two, "127.0.0.1:6443"), tls: { caPem: one.ca.certPem } };
    await expect(dial(clusters, distrusting)).rejects.toThrow(/unknown authority/);
  });

  test("other servers are not meant, and pins name a cluster where the path is unknown", async () => {
    const { clusters, one } = await start();
    expect(clusters.dial({ server: "https://127.0.0.1:6443" })).toBeUndefined();
    expect(clusters.dial({ server: "https://127.0.0.1:6443/clusters/ns/three" })).toBeUndefined();
    const caCertHashes = [publicKeyPin(one.ca.certPem)];
    const anonymous = clusters.dial({ server: "https://127.0.0.1:6443", tls: { insecure: true } }, { caCertHashes });
    const answer = await anonymous?.request({ method: "GET", path: "/api/v1/namespaces" });
    expect(answer?.status).toBe(403);
  });

  test("a pin leads to who holds the key of the authority, whoever else brings its certificate", async () => {
    const { clusters, one, two } = await start();
    const ca = { certPem: one.ca.certPem, keyPem: two.ca.keyPem };
    const pinned = async (): Promise<unknown> => {
      const config = { ...configFor(one, "127.0.0.1:6443"), server: "https://127.0.0.1:6443" };
      const transport = clusters.dial(config, { caCertHashes: [publicKeyPin(ca.certPem)] });
      return transport === undefined ? undefined : await list(transport);
    };
    const admin = new Client(one.cluster.server.admin(), { fieldManager: "test", clock: systemClock });
    await admin.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "mine" } });
    await clusters.ensure("tenant/thief", { ca, serving: () => Promise.resolve(two.admin) });
    expect(await pinned()).toBe(5);
    await clusters.remove("tenant/thief");
    expect(await pinned()).toBe(5);
  });

  test("a suspended one refuses and comes back with its content; a removed one is gone", async () => {
    const { clusters, one } = await start();
    const config = configFor(one, "127.0.0.1:6443");
    one.cluster.reachable = false;
    await expect(dial(clusters, config)).rejects.toThrow(/ECONNREFUSED/);
    one.cluster.reachable = true;
    expect(await dial(clusters, config)).toBe(4);
    await clusters.remove("ns/one");
    expect(clusters.dial(config)).toBeUndefined();
  });
});

describe("embedded clusters over HTTPS", () => {
  test("one listener serves each with certificates of its own authority and lets no client into another", async () => {
    const listen = { host: "127.0.0.1", port: () => Promise.resolve(0) };
    const clusters = new EmbeddedClusters({
      gate: openDialGate(),
      clock: systemClock,
      random: systemRandom,
      log: () => undefined,
      listen,
    });
    closing.push(() => clusters.close());
    const [one, two] = [
      await make(clusters, "ns/one", systemClock.now()),
      await make(clusters, "ns/two.with.dots", systemClock.now()),
    ];
    const { host, port } = await clusters.endpoint();
    const over = (config: ClientConfig): Promise<unknown> => list(httpTransport(config, { clock: systemClock }));
    expect(await over(configFor(one, `${host}:${port}`))).toBe(4);
    expect(await over(configFor(two, `${host}:${port}`))).toBe(4);
    // The right name and certificates, but another cluster's path.
    const astray = { ...configFor(one, `${host}:${port}`), server: `https://${host}:${port}${two.cluster.path}` };
    await expect(over(astray)).rejects.toThrow();
    const stranger = { ...configFor(two, `${host}:${port}`), credentials: fixedCredentials(one.admin) };
    await expect(over(stranger)).rejects.toThrow(/Unauthorized/);
  });

  test("strangers that fill the shared listener do not keep the administrator of a cluster out", async () => {
    const limits = { maxConnections: 4, maxUnauthenticatedPerAddress: 4 };
    const listen = { host: "127.0.0.1", port: () => Promise.resolve(0), limits };
    const log = (): void => undefined;
    const clusters = new EmbeddedClusters({
      clock: systemClock,
      random: systemRandom,
      log,
      gate: openDialGate(),
      listen,
    });
    closing.push(() => clusters.close());
    const one = await make(clusters, "ns/one", systemClock.now());
    const { host, port } = await clusters.endpoint();
    for (let i = 0; i < 6; i++) {
      const socket = connect({ host, port });
      socket.on("error", () => undefined).resume();
      closing.push(async () => void socket.destroy());
      await once(socket, "connect");
    }
    const transport = httpTransport(configFor(one, `${host}:${port}`), { clock: systemClock });
    expect(await list(transport)).toBe(4);
  });
});
