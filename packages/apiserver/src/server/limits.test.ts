import { EventEmitter } from "node:events";

import { PassThrough } from "node:stream";
import { ByteBudget, seededRandom, settle, VirtualClock } from "@capstan/apimachinery";
import { YAML_DEADLINE_MS } from "@capstan/apimachinery/foreign";

import { describe, expect, it } from "vitest";
import type { WatchSink } from "../registry/watch.ts";
import { startTestServer } from "../testing/server.ts";
import { HttpHandler, type HttpRequest, type HttpServerResponse } from "./http-handler.ts";

import { failureReply } from "./pipeline.ts";
import { type Reply, textReply } from "./reply.ts";

/** A response with or without a reader. */
class Client extends EventEmitter {
  status = 0;
  text = "";
  writableEnded = false;
  destroyed = false;
  readonly #reads: boolean;

  constructor(reads = true) {
    super();
    this.#reads = reads;
  }

  writeHead(status: number): void {
    this.status = status;
  }

  write(chunk: Buffer, done?: () => void): boolean {
    if (!this.#reads) return false;
    this.text += chunk.toString();
    done?.();
    return true;
  }

  end(chunk?: Buffer): void {
    if (chunk !== undefined) this.text += chunk.toString();
    this.writableEnded = true;
    this.emit("close");
  }

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function get(handler: HttpHandler, url: string, client = new Client()): Client {
  const request = { method: "GET", url, headers: {}, socket: {} } as unknown as HttpRequest;
  handler.serve(request, client as unknown as HttpServerResponse);
  return client;
}

const WATCH = "/api/v1/configmaps?watch=true";

/** A handler whose watches are fed by the test. */
function watching(maxWatches?: number): { handler: HttpHandler; sinks: Set<WatchSink>; clock: VirtualClock } {
  const clock = new VirtualClock();
  const sinks = new Set<WatchSink>();
  const stream = {
    start: (sink: WatchSink) => {
      sinks.add(sink);
      return () => void sinks.delete(sink);
    },
  };
  const handler = new HttpHandler({
    clock,
    random: seededRandom(1),
    handle: (call) =>
      call.path === "/never"
        ? new Promise<Reply>(() => {})
        : Promise.resolve({ status: 200, body: { type: "watch", stream } }),
    onError: (error) => {
      throw error;
    },
    maxWatches,
  });
  return { handler, sinks, clock };
}

it.each([
  ["/api/v1/configmaps?watch=true&timeout=x", 200],
  ["/api/v1/watch/configmaps?timeout=x", 200],
  ["/api/v1/namespaces/default/configmaps/a?watch=true&timeout=x", 400],
  ["/api/v1/configmaps?watch=False&timeout=x", 400],
])("answers an invalid timeout at %s with %i", async (url, status) => {
  const client = get(watching().handler, url);
  await settle();
  expect(client.status).toBe(status);
});

describe("limits", () => {
  it("open watches: rejects one too many with Retry-After, and accepts it when another has ended", async () => {
    const { handler } = watching(2);
    const clients = [get(handler, WATCH), get(handler, WATCH), get(handler, WATCH)];
    await settle();
    expect(clients.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(clients[2]?.text).toContain("too many open watches");
    clients[0]?.destroy();
    const next = get(handler, WATCH);
    await settle();
    expect(next.status).toBe(200);
  });

  it("request time: answers 504 after a minute", async () => {
    const { handler, clock } = watching();
    const client = get(handler, "/never");
    await clock.advance(59_000);
    expect(client.status).toBe(0);
    await clock.advance(2_000);
    expect(client.status).toBe(504);
    expect(JSON.parse(client.text)).toMatchObject({ kind: "Status", reason: "Timeout", code: 504 });
  });

  it("bytes of bodies: rejects more than the shared limit, and releases them with the response", async () => {
    const bodies = new ByteBudget(1000);
    const handler = new HttpHandler({
      clock: new VirtualClock(),
      random: seededRandom(1),
      bodies,
      handle: async (call) => {
        try {
          await call.body();
          return textReply(200, "read");
        } catch (error) {
          return failureReply({ onError: () => undefined }, call, error);
        }
      },
      onError: (error) => {
        throw error;
      },
    });
    const post = (): { body: PassThrough; client: Client } => {
      const body = Object.assign(new PassThrough(), { method: "POST", url: "/", headers: {}, socket: {} });
      const client = new Client();
      handler.serve(body as unknown as HttpRequest, client as unknown as HttpServerResponse);
      return { body, client };
    };
    const slow = post();
    slow.body.write("x".repeat(900));
    await settle();
    const second = post();
    second.body.end("x".repeat(200));
    await settle();
    expect(second.client.status).toBe(429);
    slow.body.end("x".repeat(50));
    await settle();
    expect(slow.client.status).toBe(200);
    const third = post();
    third.body.end("x".repeat(1000));
    await settle();
    expect(third.client.status).toBe(200);
  });

  it("bytes of bodies: releases the memory of a slow sender when the request times out", async () => {
    const clock = new VirtualClock();
    const bodies = new ByteBudget(1000);
    const handler = new HttpHandler({
      clock,
      random: seededRandom(1),
      bodies,
      handle: async (call) => {
        await Promise.resolve(call.body()).catch(() => undefined);
        return textReply(200, "read");
      },
      onError: (error) => {
        throw error;
      },
    });
    const body = Object.assign(new PassThrough(), { method: "POST", url: "/", headers: {}, socket: {} });
    const client = new Client();
    handler.serve(body as unknown as HttpRequest, client as unknown as HttpServerResponse);
    body.write("x".repeat(900));
    await settle();
    expect(bodies.share().take(900)).toBe(false);
    await clock.advance(61_000);
    expect(client.status).toBe(504);
    body.write("x".repeat(900));
    await settle();
    expect(bodies.share().take(1000)).toBe(true);
  });

  it("unread events: disconnects a watcher that does not read, and holds up no other", async () => {
    const { handler, sinks } = watching();
    const deaf = get(handler, WATCH, new Client(false));
    const other = get(handler, WATCH);
    await settle();
    const line = Buffer.from(`${"x".repeat(1024 * 1024 - 1)}\n`);
    const event = { line: () => line } as unknown as Parameters<WatchSink["send"]>[0][number];
    for (let i = 0; i < 20; i++) {
      for (const sink of sinks) sink.send([event]);
      await settle(2);
    }
    expect(deaf.destroyed).toBe(true);
    expect(sinks.size).toBe(1);
    expect(other.destroyed).toBe(false);
    expect(other.text.length).toBe(20 * line.length);
  });

  it("rejects YAML that takes too long to parse, and frees its thread for the next", async () => {
    const t = await startTestServer({ controllers: false });
    const path = "/api/v1/namespaces/default/configmaps";
    const post = (name: string, keys: number): ReturnType<typeof t.admin.request> => {
      const data = Array.from({ length: keys }, (_, i) => `  key-${i}: "some value ${i}"`).join("\n");
      return t.admin.request({
        method: "POST",
        path,
        headers: { "content-type": "application/yaml" },
        body: Buffer.from(`apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata:\n${data}\n`),
      });
    };
    const slow = [post("a", 60_000), post("b", 60_000)];
    await settle();
    await t.clock.advance(YAML_DEADLINE_MS);
    for (const { status, body } of await Promise.all(slow)) {
      expect(status).toBe(413);
      expect(body).toMatchObject({ reason: "RequestEntityTooLarge" });
      expect((body as { message: string }).message).toContain("took longer than 20 s: send JSON");
    }
    expect((await post("c", 500)).status).toBe(201);
    await t.server.close();
  });

  it("concurrent large YAML documents: rejects those that would wait for too many others", async () => {
    const t = await startTestServer({ controllers: false });
    // Each of the 34 that are read starts a thread, two at a time: seconds of processor time, and far more on a busy machine.
    const body = Buffer.from(`metadata: {name: x}\ndata: {a: "${"x".repeat(10_000)}"}\n`);
    const request = {
      method: "POST",
      path: "/api/v1/namespaces/default/configmaps",
      headers: { "content-type": "application/yaml" },
      query: { dryRun: "All" },
      body,
    } as const;
    const replies = await Promise.all(Array.from({ length: 40 }, () => t.admin.request(request)));
    const statuses = replies.map(({ status }) => status);
    expect([statuses.filter((s) => s === 201).length, statuses.filter((s) => s === 429).length]).toEqual([34, 6]);
    await t.server.close();
  }, 60_000);
});
