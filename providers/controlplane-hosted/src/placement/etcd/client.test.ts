import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { seededRandom, systemClock } from "@capstan/apimachinery";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EtcdClient, etcdClient } from "./client.ts";

/** Answers as etcd's JSON gateway does, to who shows a certificate. */
let server: Server;
let client: EtcdClient;
let dir: string;
let lines: object[] = [];
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
      if (request.url === "/v3/maintenance/snapshot")
        return response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
      response.writeHead(request.url === "/v3/maintenance/status" ? 200 : 400);
      response.end(JSON.stringify({ header: { member_id: "12345678901234567890" }, message: "etcdserver: no" }));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  client = etcdClient({ ca: ca.certPem, cert: mine.certPem, key: mine.keyPem }, () =>
    Promise.resolve(connect(port, "127.0.0.1")),
  );
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(dir, { recursive: true, force: true });
});

const endpoint = "https://m-0.etcd.svc:2379";
const blob = (data: Buffer): object => ({ result: { blob: data.toString("base64") } });

test("over another connection than the network it asks the member by its name and shows its certificate", async () => {
  expect((await client.status(endpoint)).memberId).toBe("12345678901234567890");
  expect(seen.at(-1)).toBe("/v3/maintenance/status m-0.etcd.svc");
  await expect(client.members(endpoint)).rejects.toThrow("etcd: etcdserver: no");
});

test("a snapshot is saved as it comes, and only when it is whole", async () => {
  const file = join(dir, "snapshot.db");
  const data = Buffer.alloc(200_000, "abcdefg");
  const hash = createHash("sha256").update(data).digest();
  lines = [blob(data.subarray(0, 70_000)), blob(data.subarray(70_000)), blob(hash)];
  await client.snapshot(endpoint, file);
  expect((await readFile(file)).equals(Buffer.concat([data, hash]))).toBe(true);
  lines = [blob(data.subarray(0, 70_000)), blob(hash)];
  await expect(client.snapshot(endpoint, file)).rejects.toThrow("the snapshot came incomplete");
  lines = [blob(data), { error: { message: "etcdserver: leader changed" } }];
  await expect(client.snapshot(endpoint, file)).rejects.toThrow("leader changed");
});
