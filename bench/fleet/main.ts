/** `npm run bench -- fleet`: many clusters in one process, from nothing to Available and back. */
import { figure, percentile, report } from "../lib/result.ts";
import { cpuSeconds, residentMiB, sleep } from "../lib/usage.ts";
import { createClusters, deleteClusters, inventory, scale, untilAvailable, untilGone, untilMachines } from "./load.ts";
import { type Plane, startPlane } from "./plane.ts";

const short = process.argv.includes("--short");
const SIZES = short ? [1, 20, 100] : [1, 100, 1000];
const ADDED = short ? 5 : 20;
const SCALE_TO = short ? 50 : 500;
const IDLE_SECONDS = short ? 10 : 60;
/** Goals are set for a thousand clusters; fewer must be quicker in proportion, with room for what is fixed. */
const SHARE = short ? 0.2 : 1;

interface Built {
  seconds: number;
  cpu: number;
}

const namesOf = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

async function build(plane: Plane, names: readonly string[]): Promise<Built> {
  const begun = performance.now();
  const cpu = cpuSeconds(process.pid);
  const available = untilAvailable(plane.server, names);
  await createClusters(plane, names);
  await available;
  return { seconds: (performance.now() - begun) / 1000, cpu: cpuSeconds(process.pid) - cpu };
}

async function destroy(plane: Plane, names: readonly string[]): Promise<number> {
  const begun = performance.now();
  const gone = untilGone(plane.server, names);
  await deleteClusters(plane, names);
  await gone;
  return (performance.now() - begun) / 1000;
}

/** The time of single clusters, one after the other. */
async function addOneByOne(plane: Plane, prefix: string, count: number): Promise<number[]> {
  const samples: number[] = [];
  for (const name of namesOf(prefix, count)) samples.push((await build(plane, [name])).seconds);
  return samples;
}

async function untilQuiet(plane: Plane): Promise<void> {
  for (let last = -1; last !== plane.writes(); ) {
    last = plane.writes();
    await sleep(2000);
  }
}

async function leftovers(plane: Plane, before: Map<string, number>): Promise<string[]> {
  await untilQuiet(plane);
  const now = inventory(plane.server);
  return [...now]
    .filter(([name, count]) => count !== (before.get(name) ?? 0))
    .map(([name, count]) => `${name}: ${count}`);
}

const [one = 1, some = 100, many = 1000] = SIZES;
const plane = await startPlane();
await build(plane, ["warm"]);
await destroy(plane, ["warm"]);
await untilQuiet(plane);
const empty = inventory(plane.server);

const single = await build(plane, namesOf("one-", one));
const aloneSamples = await addOneByOne(plane, "alone-", ADDED);
await destroy(plane, [...namesOf("one-", one), ...namesOf("alone-", ADDED)]);
const hundred = await build(plane, namesOf("some-", some));
await destroy(plane, namesOf("some-", some));
await untilQuiet(plane);

const names = namesOf("fleet-", many);
const thousand = await build(plane, names);
const addedSamples = await addOneByOne(plane, "added-", ADDED);
await untilQuiet(plane);

globalThis.gc?.();
const idleWrites = plane.writes();
const idleCpu = cpuSeconds(process.pid);
await sleep(IDLE_SECONDS * 1000);
const idle = {
  writes: plane.writes() - idleWrites,
  cores: (cpuSeconds(process.pid) - idleCpu) / IDLE_SECONDS,
  mib: residentMiB(process.pid),
};

const scaleBegun = performance.now();
const scaled = untilMachines(plane.server, "fleet-0", SCALE_TO);
await scale(plane, "fleet-0", SCALE_TO);
await scaled;
const scaleSeconds = (performance.now() - scaleBegun) / 1000;

const deleteSeconds = await destroy(plane, [...names, ...namesOf("added-", ADDED)]);
const left = await leftovers(plane, empty);
if (left.length > 0) console.error(`left over: ${left.join(", ")}`);
await plane.close();

const ratio = thousand.cpu / many / (hundred.cpu / some);
const addRatio = percentile(addedSamples, 0.5) / percentile(aloneSamples, 0.5);
report("fleet", [
  figure(`${one} cluster Available`, single.seconds, "s", "printed", true),
  figure(`${some} clusters Available`, hundred.seconds, "s", "printed", true),
  figure(`${many} clusters Available`, thousand.seconds, "s", `< ${60 * SHARE} s`, thousand.seconds < 60 * SHARE),
  figure(`CPU per cluster, ${some}`, (1000 * hundred.cpu) / some, "ms", "printed", true),
  figure(`CPU per cluster, ${many}`, (1000 * thousand.cpu) / many, "ms", "printed", true),
  figure(`cost per cluster, ${many} over ${some}`, ratio, "x", "<= 1.3", ratio <= 1.3),
  figure(
    `adding one at ${many}, p99`,
    percentile(addedSamples, 0.99),
    "s",
    "< 1 s",
    percentile(addedSamples, 0.99) < 1,
  ),
  figure(`adding one at ${many} over empty`, addRatio, "x", "<= 1.5", addRatio <= 1.5),
  figure(`scaling 1 to ${SCALE_TO}`, scaleSeconds, "s", "< 10 s", scaleSeconds < 10),
  figure(`idle writes in ${IDLE_SECONDS} s`, idle.writes, "", "0", idle.writes === 0),
  figure("idle CPU", idle.cores, "cores", "< 0.05", idle.cores < 0.05),
  figure(`resident with ${many}`, idle.mib, "MiB", "< 1.5 GB", idle.mib < 1430),
  figure(`deleting ${many + ADDED}`, deleteSeconds, "s", `< ${60 * SHARE} s`, deleteSeconds < 60 * SHARE),
  figure("left over", left.length, "kinds", "0", left.length === 0),
]);
process.exit(0);
