import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { type ConnectionOptions, connect, type SecureVersion, type TLSSocket } from "node:tls";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { openDialGate } from "@capstan/runtime";
import { type EmbeddedCluster, EmbeddedClusters } from "@capstan/workloads";
import { afterEach, beforeEach, expect, it } from "vitest";

/**
 * Attacker: the administrator of one embedded cluster. All embedded clusters share a listener, and OpenSSL resumes a TLS 1.3 session
 * under any server name. A session that was authenticated for the attacker's cluster must not count in the victim's. The prize is a
 * Secret in the victim's cluster.
 */
const SECRETS = "/api/v1/namespaces/default/secrets";
const HOUR_MS = 3_600_000;

interface Made {
  readonly cluster: EmbeddedCluster;
  readonly admin: CertificateAndKey;
}

let clusters: EmbeddedClusters;
let attacker: Made;
let victim: Made;
let port: number;

async function make(owner: string): Promise<Made> {
  const nowMs = systemClock.now();
  const times = { notBeforeMs: nowMs - HOUR_MS, validMs: 9 * HOUR_MS };
  const ca = await createCertificateAuthority({ commonName: "kubernetes", ...times, random: systemRandom });
  const leaf = { nowMs, validMs: HOUR_MS, random: systemRandom };
  const admin = await issueCertificate(ca, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
    usages: ["client"],
    ...leaf,
  });
  const serving = (name: string): Promise<CertificateAndKey> =>
    issueCertificate(ca, { commonName: "kube-apiserver", dnsNames: [name], usages: ["server"], ...leaf });
  return { cluster: await clusters.ensure(owner, { ca, serving }), admin };
}

beforeEach(async () => {
  clusters = new EmbeddedClusters({
    clock: systemClock,
    random: systemRandom,
    log: () => undefined,
    gate: openDialGate(),
    listen: { host: "127.0.0.1", port: () => Promise.resolve(0) },
  });
  attacker = await make("tenant/attacker");
  victim = await make("other/victim");
  await victim.cluster.server.admin().request({
    method: "POST",
    path: SECRETS,
    headers: { "content-type": "application/json" },
    body: { metadata: { name: "loot" }, stringData: { password: "hunter2" } },
  });
  ({ port } = await clusters.endpoint());
});
const closing: (() => void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) close();
  await clusters.close();
});

async function open({ cluster }: Made, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({
    host: "127.0.0.1",
    port,
    servername: cluster.serverName,
    rejectUnauthorized: false,
    ALPNProtocols: ["http/1.1"],
    ...options,
  });
  await once(socket, "secureConnect");
  return socket;
}

async function get(socket: TLSSocket, { cluster }: Made): Promise<string> {
  socket.write(`GET ${cluster.path}${SECRETS}/loot HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

it.each(["TLSv1.2", "TLSv1.3"] as const)(
  "does not let an administrator's %s session into another cluster",
  async (version: SecureVersion) => {
    const only = { minVersion: version, maxVersion: version };
    const own = await open(attacker, { ...only, cert: attacker.admin.certPem, key: attacker.admin.keyPem });
    const sessions: Buffer[] = [];
    own.on("session", (session) => sessions.push(session));
    expect(await get(own, attacker)).toMatch(/^HTTP\/1.1 404/);
    const known = sessions.at(-1) ?? own.getSession();
    const other = await open(victim, { ...only, ...(known === undefined ? {} : { session: known }) });
    const answer = await get(other, victim);
    expect(answer).not.toContain(Buffer.from("hunter2").toString("base64"));
    expect(answer).toMatch(/^HTTP\/1.1 40[13]/);
  },
);

it("lets the administrator in", async () => {
  const socket = await open(victim, { cert: victim.admin.certPem, key: victim.admin.keyPem });
  expect(await get(socket, victim)).toMatch(/^HTTP\/1.1 200/);
});

/** Asks for the Secrets of the victim's cluster on a connection that stays open; returns how to ask again. */
async function keepOpen(protocol: "HTTP/1.1" | "HTTP/2"): Promise<() => Promise<number>> {
  const { certPem: cert, keyPem: key } = victim.admin;
  const options = { cert, key, servername: victim.cluster.serverName, rejectUnauthorized: false };
  const path = `${victim.cluster.path}${SECRETS}`;
  if (protocol === "HTTP/2") {
    const session = connectHttp2(`https://127.0.0.1:${port}`, options);
    closing.push(() => session.destroy());
    return async () => {
      const sent = session.request({ ":path": path });
      sent.resume();
      const [headers] = (await once(sent, "response")) as [{ ":status"?: number }];
      return headers[":status"] ?? 0;
    };
  }
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...options });
  closing.push(() => agent.destroy());
  return () =>
    new Promise((resolve, reject) => {
      httpsRequest({ host: "127.0.0.1", port, path, agent, ...options }, (response) => {
        response.resume().once("end", () => resolve(response.statusCode ?? 0));
      })
        .on("error", reject)
        .end();
    });
}

it.each(["HTTP/1.1", "HTTP/2"] as const)(
  "does not let an open %s connection of a deleted cluster into one that takes its name",
  async (protocol) => {
    const ask = await keepOpen(protocol);
    expect(await ask()).toBe(200);
    await clusters.remove("other/victim");
    await make("other/victim");
    expect(await ask()).toBe(421);
  },
);
