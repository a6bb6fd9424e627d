import { connect, type IncomingHttpHeaders } from "node:http2";
import https from "node:https";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { gunzipSync } from "node:zlib";
import { systemClock, systemRandom, type Unstructured } from "@capstan/apimachinery";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiServer, createApiServer } from "../api-server.ts";
import { memoryStore } from "../store/memory-store.ts";
import { type TestCertificates, testCertificates } from "../testing/certificates.ts";
import type { Listener } from "./listen.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

let server: ApiServer;
let listener: Listener;
let certificates: TestCertificates;
let admin: { cert: string; key: string };

beforeAll(async () => {
  // TLS compares certificates with the real clock, so this one test runs on it.
  certificates = await testCertificates(systemClock.now());
  server = await createApiServer({
    store: memoryStore(),
    clock: systemClock,
    random: systemRandom,
    auth: { staticTokens: new Map([["secret", { name: "bob", groups: [] }]]) },
    audit: { sink: (line) => void audited.push(JSON.parse(line) as AuditEvent) },
  });
  const { server: serving, ca } = certificates;
  const tls = { certPem: serving.certPem, keyPem: serving.keyPem, clientCaPem: ca.certPem };
  listener = await server.listen({ host: "127.0.0.1", port: 0, tls });
  const client = await certificates.client("admin", ["system:masters"]);
  admin = { cert: client.certPem, key: client.keyPem };
});

afterAll(() => server.close());

interface AuditEvent {
  auditID: string;
  verb: string;
  user: { username: string };
  responseStatus: { code: number };
}
const audited: AuditEvent[] = [];

function h1(
  method: string,
  path: string,
  options: {
    body?: string | Buffer;
    headers?: Record<string, string>;
    identity?: { cert: string; key: string } | undefined;
  } = {},
): Promise<Answer> {
  const identity = "identity" in options ? options.identity : admin;
  return new Promise((resolve, reject) => {
    const request = https.request(
      {
        host: "127.0.0.1",
        port: listener.port,
        method,
        path,
        ca: certificates.ca.certPem,
        ...identity,
        headers: options.headers ?? {},
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      },
    );
    request.on("error", reject);
    request.end(options.body);
  });
}

const json = { "content-type": "application/json" };
const parsed = (answer: Answer): Unstructured => JSON.parse(answer.body.toString()) as Unstructured;
const map = (name: string, data: Record<string, string> = {}): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });

describe("HTTPS", () => {
  it("serves HTTP/1.1 with the stored bytes as reply", async () => {
    const created = await h1("POST", MAPS, { body: map("one", { a: "b" }), headers: json });
    expect(created.status).toBe(201);
    expect(created.headers["audit-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(created.headers["cache-control"]).toBe("no-cache, private");
    const got = await h1("GET", `${MAPS}/one`);
    expect(got.body.equals(created.body)).toBe(true);
    const list = parsed(await h1("GET", MAPS));
    expect((list["items"] as object[]).every((item) => !("kind" in item))).toBe(true);
  });

  it("records the response's Audit-Id in the audit log, also for rejected requests", async () => {
    const made = await h1("POST", MAPS, { body: map("audited"), headers: json });
    const own = await h1("POST", MAPS, { body: map("audited"), headers: { ...json, "audit-id": "mine" } });
    const refused = await h1("DELETE", `${MAPS}/audited`, {
      identity: undefined,
      headers: { authorization: "Bearer wrong" },
    });
    const imposter = await h1("DELETE", `${MAPS}/audited`, {
      identity: undefined,
      headers: { authorization: "Bearer secret", "impersonate-user": "root" },
    });
    const recorded = [made, own, refused, imposter].map(({ status, headers }) => {
      const event = audited.find(({ auditID }) => auditID === headers["audit-id"]);
      return [status, event?.responseStatus.code, event?.verb, event?.user.username];
    });
    expect(own.headers["audit-id"]).toBe("mine");
    expect(recorded).toEqual([
      [201, 201, "create", "admin"],
      [409, 409, "create", "admin"],
      [401, 401, "delete", ""],
      [403, 403, "delete", "bob"],
    ]);
  });

  it("serves HTTP/2, watches included", async () => {
    const session = connect(`https://127.0.0.1:${listener.port}`, { ca: certificates.ca.certPem, ...admin });
    const watch = session.request({ ":path": `${MAPS}?watch=1&timeoutSeconds=60` });
    const lines: string[] = [];
    const first = new Promise<void>((resolve) => {
      let text = "";
      watch.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        lines.push(...text.split("\n").slice(0, -1));
        text = text.slice(text.lastIndexOf("\n") + 1);
        if (lines.some((line) => line.includes('"two"'))) resolve();
      });
    });
    const headers = await new Promise<IncomingHttpHeaders>((resolve) => watch.on("response", resolve));
    expect(headers["content-type"]).toBe("application/json");
    const post = session.request({ ":method": "POST", ":path": MAPS, ...json });
    post.end(map("two"));
    post.resume();
    await first;
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type).every((type) => type === "ADDED")).toBe(
      true,
    );
    watch.close();
    session.close();
  });

  it("authenticates users by certificate and by token, and anonymous ones", async () => {
    const whoami = {
      body: JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" }),
      headers: json,
    };
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    expect(parsed(await h1("POST", path, whoami))["status"]).toMatchObject({ userInfo: { username: "admin" } });
    const token = { ...json, authorization: "Bearer secret" };
    const bob = await h1("POST", path, { ...whoami, headers: token, identity: undefined });
    expect(parsed(bob)["status"]).toMatchObject({ userInfo: { username: "bob" } });
    const bad = await h1("GET", MAPS, { headers: { authorization: "Bearer wrong" }, identity: undefined });
    expect(bad.status).toBe(401);
    expect((await h1("GET", MAPS, { identity: undefined })).status).toBe(403);
    expect((await h1("GET", "/version", { identity: undefined })).status).toBe(200);
    const stranger = await testCertificates(systemClock.now() - 1000);
    const forged = await stranger.client("admin", ["system:masters"]);
    expect((await h1("GET", MAPS, { identity: { cert: forged.certPem, key: forged.keyPem } })).status).toBe(401);
  });

  it("compresses large responses on request", async () => {
    await h1("POST", MAPS, { body: map("big", { a: "x".repeat(300_000) }), headers: json });
    const packed = await h1("GET", `${MAPS}/big`, { headers: { "accept-encoding": "gzip" } });
    expect(packed.headers["content-encoding"]).toBe("gzip");
    expect(JSON.parse(gunzipSync(packed.body).toString())).toMatchObject({ metadata: { name: "big" } });
    expect(
      (await h1("GET", `${MAPS}/one`, { headers: { "accept-encoding": "gzip" } })).headers["content-encoding"],
    ).toBeUndefined();
    expect(packed.headers["vary"]).toBe("Accept-Encoding");
    const document = await h1("GET", "/openapi/v3/api/v1", { headers: { "accept-encoding": "gzip" } });
    expect(document.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept, Accept-Encoding" });
  });

  it("refuses bodies above 3 MiB", async () => {
    const answer = await h1("POST", MAPS, { body: Buffer.alloc(3 * 1024 * 1024 + 1, "x"), headers: json });
    expect(answer.status).toBe(413);
    expect(parsed(answer)["reason"]).toBe("RequestEntityTooLarge");
  });

  it("refuses headers above 128 KiB and serves the next request", async () => {
    const long = await h1("GET", MAPS, { headers: { "x-long": "x".repeat(129 * 1024) } });
    expect(long.status).toBe(431);
    expect((await h1("GET", MAPS, { headers: { "x-long": "x".repeat(100 * 1024) } })).status).toBe(200);
    const session = connect(`https://127.0.0.1:${listener.port}`, { ca: certificates.ca.certPem, ...admin });
    const request = session.request({ ":path": MAPS, "x-long": "x".repeat(129 * 1024) });
    request.resume();
    const ended = await new Promise<string>((resolve) => {
      request.on("response", (headers) => resolve(String(headers[":status"])));
      request.on("error", () => resolve("reset"));
    });
    expect(["431", "reset"]).toContain(ended);
    session.destroy();
    expect((await h1("GET", MAPS)).status).toBe(200);
  });

  it("chooses the cipher that Go's servers choose, also with new certificates", async () => {
    const { server: serving, ca } = certificates;
    const tls = { certPem: serving.certPem, keyPem: serving.keyPem, clientCaPem: ca.certPem };
    const other = await server.listen({ host: "127.0.0.1", port: 0, tls });
    const cipher = (): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connectTls({ host: "127.0.0.1", port: other.port, ca: ca.certPem }, () => {
          resolve(socket.getCipher().name);
          socket.destroy();
        });
        socket.on("error", reject);
      });
    expect(await cipher()).toBe("TLS_AES_128_GCM_SHA256");
    other.setCertificates(tls);
    expect(await cipher()).toBe("TLS_AES_128_GCM_SHA256");
    await other.close();
  });

  it("refuses connections beyond the limit when all others are authenticated, and takes new ones when they end", async () => {
    const { server: serving, ca } = certificates;
    const tls = { certPem: serving.certPem, keyPem: serving.keyPem, clientCaPem: ca.certPem };
    const small = await server.listen({ host: "127.0.0.1", port: 0, tls, limits: { maxConnections: 2 } });
    const dial = (): Promise<TLSSocket | undefined> =>
      new Promise((resolve) => {
        const socket = connectTls({ host: "127.0.0.1", port: small.port, ca: ca.certPem, ...admin }, () =>
          socket.write("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        );
        socket.once("data", () => resolve(socket));
        socket.on("error", () => resolve(undefined));
        socket.on("close", () => resolve(undefined));
      });
    const first = await dial();
    const second = await dial();
    expect([first, second]).not.toContain(undefined);
    expect(await dial()).toBeUndefined();
    const gone = new Promise((resolve) => first?.once("close", resolve));
    first?.end();
    await gone;
    let third: TLSSocket | undefined;
    while (third === undefined) third = await dial();
    second?.destroy();
    third.destroy();
    await small.close();
  });

  it("reads YAML, also large documents in a thread of their own", async () => {
    const yaml = { "content-type": "application/yaml" };
    const small = await h1("POST", MAPS, {
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y1}\ndata: {a: b}\n",
      headers: yaml,
    });
    expect(small.status).toBe(201);
    const lines = Array.from({ length: 9_000 }, (_, i) => `  key-${i}: "some value ${i}"`).join("\n");
    const large = await h1("POST", MAPS, {
      body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y2}\ndata:\n${lines}\n`,
      headers: yaml,
    });
    expect(large.status, large.body.toString().slice(0, 300)).toBe(201);
    expect(Object.keys(parsed(large)["data"] as object)).toHaveLength(9_000);
  });

  it("answers in YAML on request", async () => {
    const answer = await h1("GET", `${MAPS}/one`, { headers: { accept: "application/yaml" } });
    expect(answer.headers["content-type"]).toBe("application/yaml");
    expect(answer.body.toString()).toContain("kind: ConfigMap");
  });

  it("sends warnings as headers", async () => {
    const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "warned" }, 'od"d': 1 });
    const answer = await h1("POST", MAPS, { body, headers: json });
    expect(answer.headers["warning"]).toBe('299 - "unknown field \\"od\\\\\\"d\\""');
  });

  it("sends no headers about a body it does not send", async () => {
    const first = await h1("GET", "/api", {
      headers: { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" },
    });
    const etag = first.headers["etag"] ?? "";
    const again = await h1("GET", "/api", {
      headers: {
        accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "if-none-match": etag,
      },
    });
    expect(again.status).toBe(304);
    expect(again.headers["content-type"]).toBeUndefined();
  });

  it("reports health, version and metrics", async () => {
    expect((await h1("GET", "/readyz")).body.toString()).toBe("ok");
    expect((await h1("GET", "/livez?verbose")).body.toString()).toContain("[+]ping ok");
    expect(parsed(await h1("GET", "/version"))["gitVersion"]).toMatch(/^v1\./);
    expect((await h1("GET", "/metrics")).body.toString()).toContain("apiserver_request_total");
  });
});
