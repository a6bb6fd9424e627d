import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { BareClient } from "../lib/bare-client.ts";
import { HttpsClient } from "../lib/https-client.ts";
import { percentile } from "../lib/result.ts";
import { cpuSeconds, sleep, sum } from "../lib/usage.ts";
import { collectionPath, type LoadReply, type LoadRequest } from "./load.ts";
import { configMap } from "./objects.ts";
import type { Side } from "./sides.ts";
import { machineMs, type WatchersReply, type WatchersRequest } from "./watchers.ts";

export interface CreateResult {
  perSecond: number;
  p99Ms: number;
  serverCpuPer1000: number;
  clientCpuPer1000: number;
}

/**
 * How many objects are created before measuring starts. A server runs for days: until then a just-in-time compiler
 * takes half as much processor time again.
 */
export const WARM_UPS = 3000;

/** Creates objects with 16 clients, after a warm-up. */
export async function measureCreates(side: Side, what: LoadRequest["what"], count: number): Promise<CreateResult> {
  const base = { endpoint: side.endpoint, what, clients: 16 };
  await load({ ...base, count: WARM_UPS, prefix: `warm-${what}` });
  const before = sum(side.pids, cpuSeconds);
  const reply = await load({ ...base, count, prefix: `load-${what}` });
  const cpu = sum(side.pids, cpuSeconds) - before;
  return {
    perSecond: count / reply.seconds,
    p99Ms: percentile(reply.latenciesMs, 0.99),
    serverCpuPer1000: (cpu / count) * 1000,
    clientCpuPer1000: (reply.cpuSeconds / count) * 1000,
  };
}

function load(request: LoadRequest): Promise<LoadReply> {
  const child = fork(fileURLToPath(new URL("./load.js", import.meta.url)));
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the load client ended with ${code}`)));
    child.once("message", (reply: LoadReply) => {
      child.removeAllListeners("exit");
      child.kill();
      resolve(reply);
    });
    child.send(request);
  });
}

/** What watchers received of a stream of creates. */
export interface LagResult {
  p50Ms: number;
  p99Ms: number;
  createsPerSecond: number;
  /** Processor time the watching process took per second: near 1 it measures itself. */
  watchersCpu: number;
}

/** Creates that watchers see before lags count, so that neither side is measured while its compiler still works. */
const WATCH_WARM_UPS = 600;

/**
 * Time from a create's acknowledgement to its event at each of 50 watchers; negative lags (event before reply) count as zero.
 * Without a rate, 16 clients create as fast as they can.
 */
export async function measureWatchLag(side: Side, rate: number | undefined, count: number): Promise<LagResult> {
  const total = count + WATCH_WARM_UPS;
  const watchers = 50;
  const prefix = rate === undefined ? "full-" : "lag-";
  const client = new HttpsClient(side.endpoint, 64);
  const path = collectionPath("configmaps");
  const { body } = await client.send("GET", `${path}?limit=1`);
  const { resourceVersion } = (JSON.parse(body.toString()) as { metadata: { resourceVersion: string } }).metadata;
  const child = fork(fileURLToPath(new URL("./watchers.js", import.meta.url)));
  const ask = (request: WatchersRequest): Promise<WatchersReply> =>
    new Promise((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`the watchers ended with ${code}`)));
      child.once("message", (reply: WatchersReply) => {
        child.removeAllListeners("exit");
        resolve(reply);
      });
      child.send(request);
    });
  const query = `?watch=true&resourceVersion=${resourceVersion}`;
  await ask({ do: "open", endpoint: side.endpoint, path: `${path}${query}`, watchers, prefix });
  const acknowledged = new Map<string, number>();
  const create = async (i: number): Promise<void> => {
    const name = `${prefix}${i}`;
    await client.send("POST", path, configMap(name));
    if (i >= WATCH_WARM_UPS) acknowledged.set(name, machineMs());
  };
  const start = performance.now();
  await (rate === undefined ? atOnce(16, total, create) : paced(rate, total, create));
  const seconds = (performance.now() - start) / 1000;
  const reply = await ask({ do: "collect", expected: total, waitMs: 30_000 });
  child.kill();
  client.close();
  const lags: number[] = [];
  for (const [name, at] of acknowledged) {
    const times = ("seen" in reply ? reply.seen[name] : undefined) ?? [];
    if (times.length !== watchers) throw new Error(`${name} reached ${times.length} of ${watchers} watchers`);
    for (const time of times) lags.push(Math.max(0, time - at));
  }
  return {
    p50Ms: percentile(lags, 0.5),
    p99Ms: percentile(lags, 0.99),
    createsPerSecond: total / seconds,
    watchersCpu: ("cpuSeconds" in reply ? reply.cpuSeconds : 0) / seconds,
  };
}

async function atOnce(clients: number, total: number, create: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < total) await create(next++);
  };
  await Promise.all(Array.from({ length: clients }, one));
}

async function paced(rate: number, total: number, create: (i: number) => Promise<void>): Promise<void> {
  const start = performance.now();
  const pending: Promise<void>[] = [];
  for (let i = 0; i < total; i++) {
    const wait = start + (i * 1000) / rate - performance.now();
    if (wait > 1) await sleep(wait);
    pending.push(create(i));
  }
  await Promise.all(pending);
}

const LIST_WARM_UPS = 5;
const LIST_ROUNDS = 21;
/** Revisions and tokens of the same list may differ in length. */
const LIST_SLACK_BYTES = 100;

/** Median milliseconds until a list has arrived completely; it must have `items` items, which an ordinary client counts once. */
export async function measureList(side: Side, query: string, items: number): Promise<number> {
  const path = `${collectionPath("configmaps")}${query}`;
  const ordinary = new HttpsClient(side.endpoint, 1);
  const { status, body } = await ordinary.send("GET", path);
  ordinary.close();
  const listed = status === 200 ? (JSON.parse(body.toString()) as { items: unknown[] }).items.length : 0;
  if (listed !== items) throw new Error(`${path} answered ${status} with ${listed} instead of ${items} objects`);
  const client = await BareClient.connect(side.endpoint);
  const samples: number[] = [];
  for (let round = 0; round < LIST_WARM_UPS + LIST_ROUNDS; round++) {
    const start = performance.now();
    const bytes = await client.get(path);
    if (round >= LIST_WARM_UPS) samples.push(performance.now() - start);
    if (Math.abs(bytes - body.length) > LIST_SLACK_BYTES)
      throw new Error(`${path} had ${bytes} bytes, not ${body.length}`);
  }
  client.close();
  return percentile(samples, 0.5);
}
