import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { HttpsClient } from "../lib/https-client.ts";
import { percentile } from "../lib/result.ts";
import { cpuSeconds, sleep, sum } from "../lib/usage.ts";
import { collectionPath, type LoadReply, type LoadRequest } from "./load.ts";
import { configMap } from "./objects.ts";
import type { Side } from "./sides.ts";

export interface CreateResult {
  perSecond: number;
  p99Ms: number;
  serverCpuPer1000: number;
  clientCpuPer1000: number;
}

/** Creates objects with 16 clients, after a warm-up of a tenth. */
export async function measureCreates(side: Side, what: LoadRequest["what"], count: number): Promise<CreateResult> {
  const base = { endpoint: side.endpoint, what, clients: 16 };
  await load({ ...base, count: Math.ceil(count / 5), prefix: `warm-${what}` });
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

/** Time from a create's acknowledgement to its event at each of 50 watchers; negative lags (event before reply) count as zero. */
export async function measureWatchLag(side: Side, rate: number, seconds: number): Promise<number> {
  const watchers = 50;
  const client = new HttpsClient(side.endpoint, watchers + 32);
  const acknowledged = new Map<string, number>();
  const seen = new Map<string, number[]>();
  const path = collectionPath("configmaps");
  const version = (
    JSON.parse((await client.send("GET", `${path}?limit=1`)).body.toString()) as {
      metadata: { resourceVersion: string };
    }
  ).metadata.resourceVersion;
  const stops = await Promise.all(
    Array.from({ length: watchers }, () =>
      client.watch(`${path}?watch=true&resourceVersion=${version}`, (line) => {
        const name = /"name":"(lag-\d+)"/.exec(line)?.[1];
        if (name !== undefined) seen.get(name)?.push(performance.now());
      }),
    ),
  );
  const total = rate * seconds;
  const start = performance.now();
  const pending: Promise<unknown>[] = [];
  for (let i = 0; i < total; i++) {
    const due = start + (i * 1000) / rate;
    const wait = due - performance.now();
    if (wait > 1) await sleep(wait);
    const name = `lag-${i}`;
    seen.set(name, []);
    pending.push(client.send("POST", path, configMap(name)).then(() => acknowledged.set(name, performance.now())));
  }
  await Promise.all(pending);
  await sleep(1000);
  for (const stop of stops) stop();
  client.close();
  const lags: number[] = [];
  for (const [name, at] of acknowledged) {
    const times = seen.get(name) ?? [];
    if (times.length !== watchers) throw new Error(`${name} reached ${times.length} of ${watchers} watchers`);
    for (const time of times) lags.push(Math.max(0, time - at));
  }
  return percentile(lags, 0.99);
}

/** Median milliseconds of a GET, after two warm-up rounds. */
export async function measureList(side: Side, query: string): Promise<number> {
  const client = new HttpsClient(side.endpoint, 1);
  const samples: number[] = [];
  for (let round = 0; round < 9; round++) {
    const start = performance.now();
    const { status } = await client.send("GET", `${collectionPath("configmaps")}${query}`);
    if (status !== 200) throw new Error(`list answered ${status}`);
    if (round >= 2) samples.push(performance.now() - start);
  }
  client.close();
  return percentile(samples, 0.5);
}
