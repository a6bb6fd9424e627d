import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { seededRandom, systemClock, VirtualClock } from "@capstan/apimachinery";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EtcdClient, type EtcdCredentials, etcdClient } from "./client.ts";

/** Answers as etcd's JSON gateway does, to who shows a certificate. */
let server: Server;
let client: EtcdClient;
let credentials: EtcdCredentials;
let dir: string;
/** What a snapshot comes as; none: one line without end. */
let lines: object[] = [];
let sentMegabytes = 0;
const seen: string[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-etcd-client-"));
  const random = seededRandom(1);
  const nowMs = systemClock.now();
  const common = { validMs: 3600_000, random, algorithm: "ECDSA-P256" } as const;
  const ca = await createCertificateAuthority({ commonName: "etcd-ca", notBeforeMs: nowMs - 60_000, ...common });
  const leaf = (usages: ("client" | "server")[]) =>
    issueCertificate(ca, { commonName: "member", usages, dnsNames: ["m-0.etcd.svc"], nowMs, ...common });
  const serving = await leaf(["server"]);
  const mine = await leaf(["client"]);
  server = createServer(
    { ca: ca.certPem, cert: serving.certPem, key: serving.keyPem, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      seen.push(`${request.url} ${(request.socket as TLSSocket & { servername?: string }).servername}`);
      if (request.url === "/v3/maintenance/snapshot" && lines.length === 0) return void endless(response);
      if (request.url === "/v3/maintenance/snapshot")
        return response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      response.writeHead(request.url === "/v3/maintenance/status" ? 200 : 400);
      response.end(JSON.stringify({ header: { member_id: "12345678901234567890" }, message: "etcdserver: no" }));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  credentials = { ca: ca.certPem, cert: mine.certPem, key: mine.keyPem };
  client = etcdClient(credentials, systemClock, () => Promise.resolve(connect(port, "127.0.0.1")));
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(dir, { recursive: true, force: true });
});

async function endless(response: ServerResponse): Promise<void> {
  const piece = Buffer.alloc(1024 ** 2, "x");
  response.setMaxListeners(0);
  for (; !response.destroyed && sentMegabytes < 256; sentMegabytes++)
    if (!response.write(piece))
      await new Promise<void>((resolve) => response.once("drain", resolve).once("close", resolve));
  response.end();
}

const endpoint = "https://m-0.etcd.svc:2379";
const blob = (data: Buffer): object => ({ result: { blob: data.toString("base64") } });

test("connects by other means than the network with the member's name and a client certificate", async () => {
  expect((await client.status(endpoint)).memberId).toBe("12345678901234567890");
  expect(seen.at(-1)).toBe("/v3/maintenance/status m-0.etcd.svc");
  await expect(client.members(endpoint)).rejects.toThrow("etcd: etcdserver: no");
});

test("saves a snapshot as it arrives, and only if it is complete", async () => {
  const file = join(dir, "snapshot.db");
  const data = Buffer.alloc(200_000, "abcdefg");
  const hash = createHash("sha256").update(data).digest();
  lines = [blob(data.subarray(0, 70_000)), blob(data.subarray(70_000)), blob(hash)];
  await client.snapshot(endpoint, file);
  expect((await readFile(file)).equals(Buffer.concat([data, hash]))).toBe(true);
  lines = [blob(data.subarray(0, 70_000)), blob(hash)];
  await expect(client.snapshot(endpoint, file)).rejects.toThrow("the snapshot is incomplete");
  lines = [blob(data), { error: { message: "etcdserver: leader changed" } }];
  await expect(client.snapshot(endpoint, file)).rejects.toThrow("leader changed");
});

test("aborts a snapshot whose line never ends", async () => {
  lines = [];
  await expect(client.snapshot(endpoint, join(dir, "endless.db"))).rejects.toThrow();
  expect(sentMegabytes).toBeLessThan(64);
});

test("truncates a long error message of a member", async () => {
  lines = [{ error: { message: "x".repeat(100_000) } }];
  const error = await client.snapshot(endpoint, join(dir, "long.db")).then(String, String);
  expect(error.length).toBeLessThan(1_000);
});

test("gives up on a silent member by the injected clock, also during the TLS handshake", async () => {
  const clock = new VirtualClock();
  let arrived = (): void => undefined;
  const reached = (): Promise<void> =>
    new Promise((resolve) => {
      arrived = resolve;
    });
  const silent = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    // The start of the handshake, which gets no answer.
    socket.once("data", () => arrived());
  });
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as AddressInfo;
  try {
    const never = etcdClient(credentials, clock, () => new Promise(() => undefined)).status(endpoint);
    const first = expect(never).rejects.toThrow("etcd did not answer within 10 s");
    await clock.advance(10_000);
    await first;

    const waiting = reached();
    const handshake = etcdClient(credentials, clock, async () => connect(port, "127.0.0.1")).status(endpoint);
    const second = expect(handshake).rejects.toThrow("etcd did not answer within 10 s");
    await waiting;
    await clock.advance(9_999);
    await clock.advance(1);
    await second;
  } finally {
    silent.close();
  }
});
