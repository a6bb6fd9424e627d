import { once } from "node:events";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { Agent, request as httpsRequest } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { seededRandom, systemClock, systemRandom, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster } from "@capstan/capi";
import { actingInProcess, type Dashboard, startDashboard } from "@capstan/dashboard-server";
import { type CertificateAndKey, createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { Cache, Client, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, it } from "vitest";

/**
 * Attacker: anybody who can open a TCP connection to the API server or to the dashboard, and has no credentials. The prize is that those
 * who have some do not get in any more.
 */
const DAY_MS = 86_400_000;
const random = seededRandom(5);
const closing: (() => Promise<unknown> | undefined)[] = [];
const sockets: Socket[] = [];
let clock: VirtualClock;
let api: ApiServer;
let ca: CertificateAndKey;
let admin: CertificateAndKey;
let port: number;

/** Connections, not more than this many of which come from one address without credentials. */
const CONNECTIONS = 8;
const LIMITS = { maxConnections: CONNECTIONS, maxUnauthenticatedPerAddress: 4, quietMs: 30_000, answerMs: 90_000 };

/** Types and flags of HTTP/2 frames. */
const [HEADERS, RST_STREAM, SETTINGS, GOAWAY] = [1, 3, 4, 7];
const [END_STREAM, END_HEADERS] = [1, 4];
/** GET https://a/ in HPACK: three fields of the static table, and an authority. */
const A_REQUEST = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x61]);

function http2Frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

beforeEach(async () => {
  // TLS compares certificates with the real clock; everything else runs on the test's.
  const nowMs = systemClock.now();
  clock = new VirtualClock(nowMs);
  const times = { notBeforeMs: nowMs - DAY_MS, validMs: 9 * DAY_MS };
  ca = await createCertificateAuthority({ commonName: "kubernetes", ...times, random });
  const leaf = { nowMs, validMs: DAY_MS, random };
  const serving = await issueCertificate(ca, {
    commonName: "server",
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    ...leaf,
  });
  admin = await issueCertificate(ca, {
    commonName: "admin",
    organizations: ["system:masters"],
    usages: ["client"],
    ...leaf,
  });
  api = await createApiServer({ store: memoryStore(), clock, random: systemRandom, controllers: false });
  closing.push(() => api.close());
  const limits = { limits: LIMITS, maxConnections: CONNECTIONS };
  const tls = { certPem: serving.certPem, keyPem: serving.keyPem, clientCaPem: ca.certPem };
  port = (await api.listen({ host: "127.0.0.1", port: 0, tls, ...limits })).port;
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const close of closing.splice(0).reverse()) await close();
});

/** Opens a connection and sends nothing, or not enough. */
async function occupy(where: number, from: string, sent = ""): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port: where, localAddress: from });
  sockets.push(socket);
  socket.on("error", () => undefined);
  socket.resume();
  await once(socket, "connect");
  socket.write(sent);
  return socket;
}

/** What the administrator gets from the API server on a new connection. */
function asAdmin(path: string): Promise<number | string> {
  return new Promise((resolve) => {
    const identity = { cert: admin.certPem, key: admin.keyPem, ca: ca.certPem };
    httpsRequest({ host: "127.0.0.1", port, path, ...identity, agent: new Agent() }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .end();
  });
}

it("serves the administrator while strangers hold as many connections as the server takes", async () => {
  for (let i = 0; i < CONNECTIONS; i++) await occupy(port, `127.0.0.${2 + (i % 4)}`);
  expect(await asAdmin("/readyz")).toBe(200);
});

it("serves the administrator while strangers at the same address hold connections", async () => {
  for (let i = 0; i < CONNECTIONS; i++) await occupy(port, "127.0.0.1");
  expect(await asAdmin("/readyz")).toBe(200);
});

it("closes strangers that send nothing or half a handshake, and keeps the administrator's watch", async () => {
  const session = connectHttp2(`https://127.0.0.1:${port}`, {
    ca: ca.certPem,
    cert: admin.certPem,
    key: admin.keyPem,
  });
  closing.push(async () => session.destroy());
  const watch = session.request({ ":path": "/api/v1/namespaces?watch=true" });
  let ended = false;
  watch.on("close", () => {
    ended = true;
  });
  watch.resume();
  await once(watch, "response");
  const quiet = await occupy(port, "127.0.0.1");
  const half = await occupy(port, "127.0.0.1", "\x16\x03\x01");
  // Connections are accepted in order: when this one is answered, the server has the others.
  expect(await asAdmin("/readyz")).toBe(200);
  const closed = Promise.all([once(quiet, "close"), once(half, "close")]);
  await clock.advance(LIMITS.quietMs + 1000);
  await closed;
  expect(await asAdmin("/readyz")).toBe(200);
  expect(ended).toBe(false);
});

/** Asks on a new connection and never reads the answer's body. */
async function askWithoutReading(path: string, identity: object): Promise<{ closed: boolean }> {
  const settings = { initialWindowSize: 0 };
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: ca.certPem, settings, ...identity });
  const seen = { closed: false };
  session.on("error", () => undefined);
  session.on("close", () => {
    seen.closed = true;
  });
  closing.push(async () => session.destroy());
  const asked = session.request({ ":path": path });
  asked.on("error", () => undefined);
  await once(asked, "response");
  return seen;
}

it("serves the administrator while strangers at the same address do not read their answers", async () => {
  for (let i = 0; i < LIMITS.maxUnauthenticatedPerAddress; i++) await askWithoutReading("/version", {});
  await clock.advance(6_000);
  expect(await asAdmin("/readyz")).toBe(200);
});

it("closes strangers that do not read their answers, and keeps the administrator's unread watch", async () => {
  const stranger = await askWithoutReading("/version", {});
  const identity = { cert: admin.certPem, key: admin.keyPem };
  const watch = await askWithoutReading("/api/v1/namespaces?watch=true", identity);
  await clock.advance(LIMITS.answerMs + 1000);
  expect(await asAdmin("/readyz")).toBe(200);
  expect([stranger.closed, watch.closed]).toEqual([true, false]);
});

it("stops at once while a stranger is in the middle of a handshake", { timeout: 5_000 }, async () => {
  const half = await occupy(port, "127.0.0.1", "\x16\x03\x01");
  expect(await asAdmin("/readyz")).toBe(200);
  const closed = once(half, "close");
  await api.close();
  await closed;
});

it("disconnects a stranger that opens streams and resets them at once", async () => {
  const socket = connectTls({ host: "127.0.0.1", port, ca: ca.certPem, ALPNProtocols: ["h2"] });
  closing.push(async () => socket.destroy());
  // Not with Node's client: as of Node 22 it does not notice that the server has closed the connection while it has frames to send.
  const ended = new Promise<void>((resolve) => {
    socket.once("close", () => resolve()).on("error", () => undefined);
    let received = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      for (; received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3); ) {
        if (received[3] === GOAWAY) resolve();
        received = received.subarray(9 + received.readUIntBE(0, 3));
      }
    });
  });
  await once(socket, "secureConnect");
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(http2Frame(SETTINGS, 0, 0, Buffer.alloc(0)));
  let disconnected = false;
  void ended.then(() => {
    disconnected = true;
  });
  let opened = 0;
  for (; opened < 20_000 && !disconnected; opened++) {
    const stream = 2 * opened + 1;
    socket.write(http2Frame(HEADERS, END_STREAM | END_HEADERS, stream, A_REQUEST));
    socket.write(http2Frame(RST_STREAM, 0, stream, Buffer.from([0, 0, 0, 8])));
    if (opened % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await ended;
  expect(opened).toBeLessThan(20_000);
  expect(await asAdmin("/readyz")).toBe(200);
});

it("answers a stranger without reading the body", async () => {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: ca.certPem });
  closing.push(async () => session.destroy());
  const path = "/api/v1/namespaces/default/configmaps";
  const post = session.request({ ":path": path, ":method": "POST", "content-length": 3_000_000 });
  post.on("error", () => undefined);
  post.write("x".repeat(1000));
  const [headers] = (await once(post, "response")) as [Record<string, unknown>];
  expect(headers[":status"]).toBe(403);
});

interface Served {
  readonly dashboard: Dashboard;
  readonly port: number;
  readonly dir: string;
}

async function serveDashboard(): Promise<Served> {
  const dir = await mkdtemp(join(tmpdir(), "exhaustion-"));
  closing.push(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "index.html"), "__NONCE__");
  await api.registerCrds([Cluster.crd()]);
  const client = new Client(api.admin(), { fieldManager: "test", clock });
  const cache = new Cache(client, { clock, random });
  const dashboard = await startDashboard({
    pageDir: dir,
    listen: { host: "127.0.0.1", port: 0 },
    dataDir: dir,
    acting: actingInProcess(api),
    cache,
    providers: [{ name: "core", title: "Cluster API", kinds: [Cluster] }],
    version: "test",
    log: silentLogger,
    clock,
    random: systemRandom,
  });
  closing.push(() => dashboard.close());
  return { dashboard, port: Number(new URL(dashboard.url).port), dir };
}

/** The status of signing in from an address. */
function signIn({ dashboard, port: where }: Served, from: string, body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", origin: dashboard.url };
    const options = { host: "127.0.0.1", port: where, localAddress: from, path: "/auth/session", method: "POST" };
    httpRequest({ ...options, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end(JSON.stringify(body));
  });
}

it("lets an administrator sign in while another address guesses", async () => {
  const served = await serveDashboard();
  const guesses = await Promise.all(
    Array.from({ length: 30 }, (_, i) => signIn(served, "127.0.0.2", { token: `guess-${i}` })),
  );
  const code = served.dashboard.signInLink({ name: "boss", groups: ["system:masters"] }).split("#")[1];
  expect(await signIn(served, "127.0.0.1", { code })).toBe(200);
  expect(guesses.filter((status) => status === 401)).toHaveLength(20);
  expect(guesses.filter((status) => status === 429)).toHaveLength(10);
});

it("keeps no session, in memory or on disk, for a token that is only guessed", async () => {
  const served = await serveDashboard();
  const code = served.dashboard.signInLink({ name: "boss", groups: ["system:masters"] }).split("#")[1];
  expect(await signIn(served, "127.0.0.1", { code })).toBe(200);
  // Sessions are bounded, so a guess that had one would sign out another user.
  const written = async (): Promise<bigint> =>
    (await stat(join(served.dir, "dashboard-sessions.json"), { bigint: true })).ctimeNs;
  const before = await written();
  const guesses = [0, 1, 2, 3, 4].map((i) => signIn(served, "127.0.0.2", { token: `guess-${i}` }));
  expect(await Promise.all(guesses)).toEqual([401, 401, 401, 401, 401]);
  expect(await written()).toBe(before);
});

it("closes connections to the dashboard that never send a request", async () => {
  const { port: where } = await serveDashboard();
  const quiet = await occupy(where, "127.0.0.1");
  const half = await occupy(where, "127.0.0.1", "GET / HTTP/1.1\r\n");
  expect((await fetch(`http://127.0.0.1:${where}/`)).status).toBe(200);
  const closed = Promise.all([once(quiet, "close"), once(half, "close")]);
  await clock.advance(LIMITS.quietMs + 1000);
  await closed;
});
