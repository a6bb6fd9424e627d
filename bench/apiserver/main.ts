/** `npm run bench -- apiserver`: the embedded API compared with kube-apiserver and etcd, same client, same disk, same durability. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpsClient } from "../lib/https-client.ts";
import { type Figure, figure, percentile, report } from "../lib/result.ts";
import { cpuSeconds, residentMiB, sleep, sum } from "../lib/usage.ts";
import {
  type CreateResult,
  type LagResult,
  measureCreates,
  measureList,
  measureWatchLag,
  WARM_UPS,
} from "./measure.ts";
import { benchCrd, configMap } from "./objects.ts";
import { BUILT, bundleOurs, type Side, startOurs, startPeer } from "./sides.ts";

const short = process.argv.includes("--short");
const COUNT = short ? 2000 : 5000;
/** At least this many ConfigMaps exist when lists are measured. */
const LISTED = 5000;
const STARTS = 5;
const IDLE_SECONDS = short ? 30 : 60;
/** V8 collects its garbage once, some ten seconds after the last request; that still counts as work and not as idling. */
const SETTLE_SECONDS = 20;

async function prepare(side: Side): Promise<void> {
  const client = new HttpsClient(side.endpoint, 4);
  const { status, body } = await client.send(
    "POST",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    JSON.stringify(benchCrd("benchmachines", "BenchMachine")),
  );
  if (status !== 201) throw new Error(`CRD: ${status} ${body.toString().slice(0, 1000)}`);
  for (;;) {
    const answer = await client.send("GET", "/apis/bench.capstan.dev/v1/namespaces/default/benchmachines");
    if (answer.status === 200) break;
    await sleep(100);
  }
  client.close();
}

interface Measured {
  configMaps: CreateResult;
  machines: CreateResult;
  lag: LagResult;
  lagAtSaturation: LagResult;
  listMs: number;
  listByLabelMs: number;
}

async function measure(side: Side): Promise<Measured> {
  await prepare(side);
  const configMaps = await measureCreates(side, "configmaps", COUNT);
  const machines = await measureCreates(side, "machines", COUNT);
  await topUp(side, LISTED - COUNT - WARM_UPS);
  const listMs = await measureList(side, `?limit=${LISTED}`, LISTED);
  const listByLabelMs = await measureList(side, "?labelSelector=half%3Da", Math.max(LISTED, COUNT + WARM_UPS) / 10);
  const lag = await measureWatchLag(side, 200, short ? 1000 : 2000);
  const lagAtSaturation = await measureWatchLag(side, undefined, 1000);
  return { configMaps, machines, lag, lagAtSaturation, listMs, listByLabelMs };
}

/** From the start of the process to /readyz, on an existing data directory: the median of several starts. */
async function startTime(dir: string, program?: string): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const begun = performance.now();
    const side = await startOurs(dir, program);
    const client = new HttpsClient(side.endpoint, 1);
    const { status } = await client.send("GET", "/readyz");
    if (status !== 200) throw new Error(`/readyz answered ${status}`);
    samples.push((performance.now() - begun) / 1000);
    client.close();
    await side.stop();
  }
  return percentile(samples, 0.5);
}

async function idle(dir: string): Promise<{ residentMiB: number; cpuPercent: number }> {
  const side = await startOurs(dir);
  const client = new HttpsClient(side.endpoint, 4);
  for (let i = 0; i < 60; i++)
    await client.send(
      "POST",
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
      JSON.stringify(benchCrd(`idles${i}`, `Idle${i}`)),
    );
  client.close();
  await side.stop();
  // Measures a server that was just started on its data, as it runs for days.
  const fresh = await startOurs(dir);
  await sleep(SETTLE_SECONDS * 1000);
  const before = sum(fresh.pids, cpuSeconds);
  await sleep(IDLE_SECONDS * 1000);
  const cpuPercent = ((sum(fresh.pids, cpuSeconds) - before) / IDLE_SECONDS) * 100;
  const resident = sum(fresh.pids, residentMiB);
  await fresh.stop();
  return { residentMiB: resident, cpuPercent };
}

async function fill(dir: string, count: number): Promise<void> {
  const side = await startOurs(dir);
  await topUp(side, count);
  await side.stop();
}

async function topUp(side: Side, count: number): Promise<void> {
  const client = new HttpsClient(side.endpoint, 64);
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count)
      await client.send("POST", "/api/v1/namespaces/default/configmaps", configMap(`fill-${next++}`));
  };
  await Promise.all(Array.from({ length: 64 }, one));
  client.close();
}

const dir = mkdtempSync(join(tmpdir(), "capstan-bench-"));
try {
  bundleOurs();
  const peerSide = await startPeer();
  const peer = await measure(peerSide);
  const peerResident = sum(peerSide.pids, residentMiB);
  await peerSide.stop();
  const oursSide = await startOurs(join(dir, "load"));
  const ours = await measure(oursSide);
  await oursSide.stop();

  const empty = join(dir, "empty");
  await fill(empty, 0);
  const emptyStart = await startTime(empty);
  const emptyStartBuilt = await startTime(empty, BUILT);
  await fill(join(dir, "full"), 10_000);
  const fullStart = await startTime(join(dir, "full"));
  const rest = await idle(join(dir, "idle"));

  const creates = (name: string, a: CreateResult, b: CreateResult): Figure[] => [
    {
      name: `${name}: durable creates`,
      value: a.perSecond,
      unit: "1/s",
      peer: b.perSecond,
      goal: ">= 2x peer",
      ok: a.perSecond >= 2 * b.perSecond,
    },
    {
      name: `${name}: server CPU per 1000`,
      value: a.serverCpuPer1000,
      unit: "s",
      peer: b.serverCpuPer1000,
      goal: "<= 1/2 peer",
      ok: a.serverCpuPer1000 <= b.serverCpuPer1000 / 2,
    },
    { name: `${name}: p99`, value: a.p99Ms, unit: "ms", peer: b.p99Ms, goal: "<= peer", ok: a.p99Ms <= b.p99Ms },
    {
      name: `${name}: client CPU per 1000`,
      value: a.clientCpuPer1000,
      unit: "s",
      peer: b.clientCpuPer1000,
      goal: "printed",
      ok: true,
    },
  ];
  report("apiserver", [
    ...creates("ConfigMap 1 KiB", ours.configMaps, peer.configMaps),
    ...creates("custom resource 3 KiB", ours.machines, peer.machines),
    {
      name: "watch lag p99, 50 watchers, 200/s",
      value: ours.lag.p99Ms,
      unit: "ms",
      peer: peer.lag.p99Ms,
      goal: "< 10 ms and <= peer",
      ok: ours.lag.p99Ms < 10 && ours.lag.p99Ms <= Math.max(peer.lag.p99Ms, 0.01),
    },
    {
      name: "watchers' own CPU at 200/s",
      value: ours.lag.watchersCpu,
      unit: "cores",
      peer: peer.lag.watchersCpu,
      goal: "printed",
      ok: true,
    },
    {
      name: "watch lag p99, 50 watchers, saturated",
      value: ours.lagAtSaturation.p99Ms,
      unit: "ms",
      peer: peer.lagAtSaturation.p99Ms,
      goal: "printed",
      ok: true,
    },
    {
      name: "creates with 50 watchers, saturated",
      value: ours.lagAtSaturation.createsPerSecond,
      unit: "1/s",
      peer: peer.lagAtSaturation.createsPerSecond,
      goal: "printed",
      ok: true,
    },
    {
      name: "list of 5000",
      value: ours.listMs,
      unit: "ms",
      peer: peer.listMs,
      goal: ">= 2x faster",
      ok: ours.listMs * 2 <= peer.listMs,
    },
    {
      name: "list by label",
      value: ours.listByLabelMs,
      unit: "ms",
      peer: peer.listByLabelMs,
      goal: ">= 2x faster",
      ok: ours.listByLabelMs * 2 <= peer.listByLabelMs,
    },
    { name: "start to ready, empty", value: emptyStart, unit: "s", peer: null, goal: "< 0.5 s", ok: emptyStart < 0.5 },
    figure("… one file per module, not bundled", emptyStartBuilt, "s", "printed", true),
    {
      name: "start to ready, 10000 objects",
      value: fullStart,
      unit: "s",
      peer: null,
      goal: "< 2 s",
      ok: fullStart < 2,
    },
    {
      name: "resident idle, 60 CRDs",
      value: rest.residentMiB,
      unit: "MiB",
      peer: peerResident,
      goal: "< 120 MB",
      ok: rest.residentMiB < 120,
    },
    {
      name: "CPU idle",
      value: rest.cpuPercent,
      unit: "% of a core",
      peer: null,
      goal: "< 0.5 %",
      ok: rest.cpuPercent < 0.5,
    },
  ]);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
