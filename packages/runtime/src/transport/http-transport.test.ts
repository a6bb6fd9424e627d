import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, type ApiRequest, settle, systemClock, VirtualClock, type WatchEvent } from "@capstan/apimachinery";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Client } from "../client/client.ts";
import { systemDialGate } from "../dial/system-gate.ts";
import { kindRef } from "../kind.ts";
import { type CreateAgents, createAgents } from "./agents.ts";
import { type ClientConfig, fixedCredentials } from "./client-config.ts";
import { httpTransport } from "./http-transport.ts";
import { nodeAgents } from "./node-agents.ts";

const ConfigMap = kindRef({ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true });
const cleanups: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server that answers as the test demands: a sound one produces no faults. */
type Answering = (request: IncomingMessage, response: ServerResponse, count: number) => void;

async function serveWith(
  agents: CreateAgents,
  answer: Answering,
  config: Partial<ClientConfig>,
  clock: typeof systemClock,
) {
  let count = 0;
  const server: Server = createServer((request, response) => answer(request, response, ++count));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const transport = httpTransport({ server: base, ...config }, { clock, agents });
  cleanups.push(
    () => transport.close(),
    () => server.closeAllConnections(),
    () => new Promise((resolve) => server.close(resolve)),
  );
  const { port } = server.address() as AddressInfo;
  return { transport, port, requests: () => count, client: new Client(transport, { fieldManager: "test", clock }) };
}

const send = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};

const event = (name: string, revision: number): string =>
  `${JSON.stringify({ type: "ADDED", object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, resourceVersion: String(revision) } } })}\n`;

async function collect(events: AsyncIterable<WatchEvent>): Promise<{ names: string[]; error: unknown }> {
  const names: string[] = [];
  try {
    for await (const { object } of events) names.push(object.metadata.name ?? "");
  } catch (error) {
    return { names, error };
  }
  return { names, error: undefined };
}

const watch: ApiRequest = { method: "GET", path: "/api/v1/configmaps", query: { watch: "true" } };

describe.each([
  ["undici", createAgents],
  ["node", nodeAgents],
])("httpTransport by %s", (_, agents) => {
  const serve = (answer: Answering, config: Partial<ClientConfig> = {}, clock = systemClock) =>
    serveWith(agents, answer, config, clock);

  test.each(["DELETE", "POST", "PATCH"] as const)(
    "%s arrives with its body, also on a connection that was used",
    async (method) => {
      const bodies: string[] = [];
      const { transport } = await serve((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          bodies.push(Buffer.concat(chunks).toString("utf8"));
          send(response, 200, {});
        });
      });
      for (const name of ["ä", "b"]) await transport.request({ method, path: "/x", body: { name } });
      expect(bodies).toEqual(['{"name":"ä"}', '{"name":"b"}']);
    },
  );

  test("sends method, path below the server's own, query, headers and body, and reads the answer", async () => {
    const seen: Record<string, unknown> = {};
    const { transport } = await serve((request, response) => {
      Object.assign(seen, { method: request.method, url: request.url, headers: request.headers });
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        seen["body"] = Buffer.concat(chunks).toString();
        response.setHeader("warning", ['299 - "first \\"quoted\\""', '299 - "second"']);
        send(response, 201, { kind: "Thing" });
      });
    });
    const response = await transport.request({
      method: "PATCH",
      path: "/api/v1/things",
      query: { a: "1 2", b: ["x", "y"], c: undefined },
      headers: { "content-type": "application/merge-patch+json" },
      body: { spec: "ü" },
    });
    expect(response).toMatchObject({ status: 201, body: { kind: "Thing" }, warnings: ['first "quoted"', "second"] });
    expect(seen).toMatchObject({ method: "PATCH", url: "/api/v1/things?a=1+2&b=x&b=y", body: '{"spec":"ü"}' });
    expect(seen["headers"]).toMatchObject({
      "content-type": "application/merge-patch+json",
      accept: "application/json",
    });
  });

  test("an answer or an event that is longer than allowed is cut off, and the connection with it", async () => {
    let closed = 0;
    const { transport } = await serve(
      (request, response) => {
        request.socket.once("close", () => closed++);
        response.writeHead(200, { "content-type": "application/json" });
        const more = (): void => {
          while (response.write("x".repeat(64 * 1024)));
        };
        response.on("drain", more).on("error", () => undefined);
        more();
      },
      { maxAnswerBytes: 1024 * 1024 },
    );
    await expect(transport.request({ method: "GET", path: "/x" })).rejects.toThrow("more than 1048576 bytes");
    const { error } = await collect(transport.watch(watch));
    expect(String(error)).toContain("exceeds 1048576 bytes");
    await vi.waitFor(() => expect(closed).toBe(2));
  });

  test("an answer that comes byte by byte is given up after its time", async () => {
    const clock = new VirtualClock();
    let begun: () => void = () => undefined;
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { transport } = await serve(
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).write("{");
        begun();
      },
      { requestTotalMs: 60_000 },
      clock,
    );
    const asked = transport.request({ method: "GET", path: "/x" });
    const outcome = expect(asked).rejects.toThrow("not complete within 60 s");
    await beginning;
    await clock.advance(61_000);
    await outcome;
  });

  test("what is no Status is not repeated in an error", async () => {
    const { client, transport } = await serve((_request, response) => response.writeHead(403).end("root:x:0:0"));
    const error = await client.get(ConfigMap, { namespace: "a", name: "b" }).catch((failed: unknown) => failed);
    expect(String(error)).toContain("403");
    expect(String(error)).not.toContain("root");
    const { error: watched } = await collect(transport.watch(watch));
    expect(String(watched)).toContain("403");
    expect(String(watched)).not.toContain("root");
  });

  test("a server that the gate refuses is not dialled, and is once it is served from here", async () => {
    const gate = systemDialGate();
    const { transport, requests, port } = await serve((_request, response) => send(response, 200, {}), { gate });
    await expect(transport.request({ method: "GET", path: "/x" })).rejects.toThrow("--allow-address");
    expect(requests()).toBe(0);
    gate.serves("default/a", { host: "127.0.0.1", port });
    await transport.request({ method: "GET", path: "/x" });
    expect(requests()).toBe(1);
  });

  test("asks for credentials each time and once more after a 401", async () => {
    const tokens = ["old", "new"];
    const seen: (string | undefined)[] = [];
    const { transport } = await serve(
      (request, response) => {
        seen.push(request.headers.authorization);
        if (request.headers.authorization === "Bearer old") send(response, 401, {});
        else send(response, 200, {});
      },
      {
        credentials: {
          get: () => Promise.resolve({ token: tokens[0] }),
          invalidate: () => tokens.length > 1 && tokens.shift() !== undefined,
        },
      },
    );
    const response = await transport.request({ method: "GET", path: "/" });
    expect(response.status).toBe(200);
    expect(seen).toEqual(["Bearer old", "Bearer new"]);
  });

  test("impersonation headers", async () => {
    let headers: IncomingMessage["headers"] = {};
    const impersonate = { user: "jane", groups: ["a", "b"], uid: "7", extra: { "acme.com/project": ["x"] } };
    const { transport } = await serve(
      (request, response) => {
        headers = request.headers;
        send(response, 200, {});
      },
      { impersonate },
    );
    await transport.request({ method: "GET", path: "/" });
    expect(headers).toMatchObject({
      "impersonate-user": "jane",
      "impersonate-group": "a, b",
      "impersonate-uid": "7",
      "impersonate-extra-acme.com%2fproject": "x",
    });
  });

  test("a watch gives events as they come, in whatever pieces", async () => {
    const { transport } = await serve((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const bytes = Buffer.from(event("a", 1) + event("bü", 2) + event("c", 3));
      for (let at = 0; at < bytes.length; at += 37) response.write(bytes.subarray(at, at + 37));
      response.end();
    });
    expect(await collect(transport.watch(watch))).toEqual({ names: ["a", "bü", "c"], error: undefined });
  });

  test.each(["cuts", "ends"])(
    "a watch that the server %s inside an event gives the whole ones and then throws",
    async (how) => {
      const { transport } = await serve((_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write(event("a", 1) + event("b", 2).slice(0, 20), () =>
          how === "cuts" ? response.destroy() : response.end(),
        );
      });
      const { names, error } = await collect(transport.watch(watch));
      expect(names).toEqual(["a"]);
      expect(error).toBeInstanceOf(Error);
    },
  );

  test("a refused watch throws the server's Status", async () => {
    const { transport } = await serve((_, response) =>
      send(response, 410, { kind: "Status", apiVersion: "v1", reason: "Expired", code: 410, message: "too old" }),
    );
    const { error } = await collect(transport.watch(watch));
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).reason).toBe("Expired");
  });

  test("a silent watch with bookmarks is given up; one that speaks is not", async () => {
    const clock = new VirtualClock();
    let speak: (() => void) | undefined;
    const { transport } = await serve(
      (_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write(event("a", 1));
        speak = () => response.write(event("b", 2));
      },
      { readIdleMs: 1000 },
      clock,
    );
    const names: string[] = [];
    let failure: unknown;
    const reading = (async () => {
      try {
        const query = { watch: "true", allowWatchBookmarks: "true" };
        for await (const { object } of transport.watch({ ...watch, query })) names.push(object.metadata.name ?? "");
      } catch (error) {
        failure = error;
      }
    })();
    while (names.length < 1) await settle();
    await clock.advance(800);
    speak?.();
    while (names.length < 2) await settle();
    await clock.advance(800);
    expect(failure).toBeUndefined();
    await clock.advance(300);
    await reading;
    expect(String(failure)).toContain("no sign of life");
  });

  test("closes the connection of an aborted watch without an error", async () => {
    let closed = false;
    const { transport } = await serve((request, response) => {
      request.socket.once("close", () => {
        closed = true;
      });
      response.writeHead(200, { "content-type": "application/json" });
      response.write(event("a", 1));
    });
    const stop = new AbortController();
    const names: string[] = [];
    for await (const { object } of transport.watch(watch, stop.signal)) {
      names.push(object.metadata.name ?? "");
      stop.abort();
    }
    expect(names).toEqual(["a"]);
    while (!closed) await settle();
  });
});

describe("bad configuration", () => {
  test.each<[string, ClientConfig]>([
    ["no URL", { server: "not a url" }],
    ["another protocol", { server: "ftp://127.0.0.1" }],
    ["no server", { server: "https://127.0.0.1:1" }],
    ["no such port", { server: "https://127.0.0.1:99999" }],
    ["a CA that is none", { server: "https://127.0.0.1:1", tls: { caPem: "garbage" } }],
    [
      "a certificate that is none",
      { server: "https://127.0.0.1:1", credentials: fixedCredentials({ certPem: "x", keyPem: "y" }) },
    ],
    ["a token with a line break", { server: "https://127.0.0.1:1", credentials: fixedCredentials({ token: "a\nb" }) }],
    [
      "credentials that cannot be had",
      {
        server: "https://127.0.0.1:1",
        credentials: { get: () => Promise.reject(new Error("plugin failed")), invalidate: () => false },
      },
    ],
    ["a proxy that is none", { server: "https://example.test", proxyUrl: "http://127.0.0.1:1" }],
  ])("%s: requests and watches reject, nothing crashes", async (_, config) => {
    const transport = httpTransport(config, { clock: systemClock });
    cleanups.push(() => transport.close());
    await expect(transport.request({ method: "GET", path: "/" })).rejects.toThrow(/cannot be reached: .|plugin failed/);
    expect((await collect(transport.watch(watch))).error).toBeInstanceOf(Error);
  });
});

describe("Client over HTTP", () => {
  const serve = (answer: Answering, config: Partial<ClientConfig> = {}, clock = systemClock) =>
    serveWith(createAgents, answer, config, clock);

  test("a GET is repeated when the connection breaks, a write is not", async () => {
    const { client, requests } = await serve((request, response, count) => {
      if (count <= 2) request.socket.destroy();
      else send(response, 200, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
    });
    expect(await client.get(ConfigMap, { namespace: "ns", name: "a" })).toMatchObject({ kind: "ConfigMap" });
    expect(requests()).toBe(3);

    const broken = await serve((request) => request.socket.destroy());
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "ns" } };
    broken.client.mapper.register(ConfigMap);
    await expect(broken.client.create(object)).rejects.toThrow();
    expect(broken.requests()).toBe(1);
  });

  test("whatever was turned away with Retry-After is repeated after that time, also a write", async () => {
    const clock = new VirtualClock();
    const { client, requests } = await serve(
      (_, response, count) => {
        if (count === 1) send(response, 429, {}, { "retry-after": "3" });
        else if (count === 2) send(response, 503, {}, { "retry-after": "1" });
        else send(response, 201, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
      },
      {},
      clock,
    );
    client.mapper.register(ConfigMap);
    const made = client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "ns" } });
    while (clock.nextTimer() === undefined) await settle();
    await clock.advance(2999);
    expect(requests()).toBe(1);
    await clock.advance(1);
    while (clock.nextTimer() === undefined) await settle();
    await clock.advance(1000);
    expect((await made).metadata.name).toBe("a");
    expect(requests()).toBe(3);
  });

  test("a 503 without Retry-After is not repeated", async () => {
    const { client, requests } = await serve((_, response) => send(response, 503, "busy"));
    await expect(client.list(ConfigMap)).rejects.toMatchObject({ code: 503, reason: "ServiceUnavailable" });
    expect(requests()).toBe(1);
  });

  test("a missing object is undefined, a kind that is not served is an error", async () => {
    const { client } = await serve((request, response) => {
      const details = request.url?.includes("/configmaps/") === true ? { name: "x", kind: "configmaps" } : {};
      send(response, 404, { kind: "Status", apiVersion: "v1", reason: "NotFound", code: 404, message: "no", details });
    });
    expect(await client.get(ConfigMap, { namespace: "ns", name: "x" })).toBeUndefined();
    const other = kindRef({ group: "x.y", version: "v1", kind: "Other", plural: "others", namespaced: true });
    await expect(client.get(other, { namespace: "ns", name: "x" })).rejects.toMatchObject({ code: 404 });
  });
});
