import type { ApiProcess } from "./api-process.ts";
import { isBusy, slowness } from "./machine-speed.ts";
import { NO_STALL, type Stall } from "./stall-meter.ts";
import { repeat } from "./worst-bodies.ts";
import { crd, GEAR_CRD } from "./worst-kinds.ts";
import { type WorstRequest, worstRequests } from "./worst-requests.ts";
import { afterwards, beforehand, inParallel, send, untilGone } from "./worst-steps.ts";

/** Limit of processor time: it leaves room for what the clock counts in addition. */
const LIMIT_CPU_MS = 80;
/** By the clock, without the waits for a processor that a busy machine had for others: what others wait. */
const LIMIT_HELD_MS = 100;
const ATTEMPTS = 3;
const MORE_ATTEMPTS = 9;
const KINDS = 60;
const WATCHERS = 3_000;

/** The effect of the most expensive requests on the event loop. */
interface WorstOutcome {
  readonly requests: number;
  /** The longest stalls that a request causes repeatedly, by the clock and in processor time, with the requests. */
  readonly longest: Stall;
  readonly atHeld: string;
  readonly atCpu: string;
}

/** Sends the most expensive requests; none may block the event loop for more than 100 ms. */
export async function worstRounds(api: ApiProcess, objects: number, only = ""): Promise<WorstOutcome> {
  await prepare(api, objects);
  const slow = slowness();
  const limit = { cpuMs: LIMIT_CPU_MS * slow, heldMs: LIMIT_HELD_MS * slow };
  let longest = NO_STALL;
  let [atHeld, atCpu] = ["", ""];
  const failures: string[] = [];
  const requests = worstRequests(objects).filter(({ name }) => name.includes(only));
  const end = await api.watchMany("/api/v1/namespaces/watched/configmaps?watch=1", WATCHERS);
  for (const one of requests) {
    const { stall, status } = await measure(api, one, limit);
    if (process.env["FAULTS_VERBOSE"] !== undefined) console.log(`    ${milliseconds(stall)}  ${status}  ${one.name}`);
    if (status === 0 || status >= 500) failures.push(`${one.name}: ${status === 0 ? "no answer" : status}`);
    if (exceeds(stall, limit)) failures.push(`${one.name}: ${milliseconds(stall)}`);
    if (stall.heldMs > longest.heldMs) atHeld = one.name;
    if (stall.cpuMs > longest.cpuMs) atCpu = one.name;
    longest = {
      cpuMs: Math.max(longest.cpuMs, stall.cpuMs),
      clockMs: Math.max(longest.clockMs, stall.clockMs),
      heldMs: Math.max(longest.heldMs, stall.heldMs),
    };
  }
  end();
  if (failures.length > 0) throw new Error(`requests that hold up the others:\n  ${failures.join("\n  ")}`);
  return { requests: requests.length, longest, atHeld, atCpu };
}

/** The stall that a request causes every time: a busy machine, or its garbage collector, is slow once, an expensive request always. */
async function measure(
  api: ApiProcess,
  one: WorstRequest,
  limit: Limit,
): Promise<{ readonly stall: Stall; readonly status: number }> {
  const stalls: Stall[] = [];
  let status = 0;
  for (let most = ATTEMPTS; stalls.length < most; ) {
    await beforehand(api, one);
    const made = await api.longestBlock(async () => {
      status = await send(api, one);
      if (one.until !== undefined) await untilGone(api, one.until);
    });
    stalls.push(made);
    await afterwards(api, one, status);
    if (stalls.length === ATTEMPTS && exceeds(shortest(stalls), limit)) most = MORE_ATTEMPTS;
  }
  return { stall: shortest(stalls), status };
}

type Limit = Pick<Stall, "cpuMs" | "heldMs">;

const exceeds = (stall: Stall, limit: Limit): boolean =>
  stall.cpuMs > limit.cpuMs || (stall.heldMs > limit.heldMs && !isBusy());

const shortest = (stalls: readonly Stall[]): Stall => ({
  cpuMs: Math.min(...stalls.map(({ cpuMs }) => cpuMs)),
  clockMs: Math.min(...stalls.map(({ clockMs }) => clockMs)),
  heldMs: Math.min(...stalls.map(({ heldMs }) => heldMs)),
});

/** All measures as text. */
function milliseconds({ cpuMs, clockMs, heldMs }: Stall): string {
  const shown = (ms: number): string => ms.toFixed(0).padStart(4);
  return `${shown(cpuMs)} ms of processor time, ${shown(heldMs)} held, ${shown(clockMs)} by the clock`;
}

/** Namespaces, a large installation's kinds and many objects of a built-in and of a custom kind. */
async function prepare(api: ApiProcess, objects: number): Promise<void> {
  for (const name of ["worst", "many", "watched"]) await api.json("POST", "/api/v1/namespaces", { metadata: { name } });
  await api.json("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", GEAR_CRD);
  for (let i = 0; i < KINDS; i++)
    await api.json("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", sixtieth(i));
  const names = repeat(objects, (i) => `o${i}`);
  await inParallel(names, (name) =>
    api.json("POST", "/api/v1/namespaces/many/configmaps", {
      metadata: { name, labels: { a: `v${name}` } },
      data: { text: "x".repeat(500) },
    }),
  );
  await inParallel(names, (name) =>
    api.json("POST", "/apis/sixty.example/v1/namespaces/many/kind0s", {
      apiVersion: "sixty.example/v1",
      kind: "Kind0",
      metadata: { name },
      spec: { part0: { name, size: 1 } },
    }),
  );
}

function sixtieth(i: number): object {
  const part = {
    type: "object",
    properties: Object.fromEntries(
      repeat(20, (k) => [`field${k}`, { type: "string", description: "What it is. ".repeat(10) }]),
    ),
  };
  const parts = Object.fromEntries(
    repeat(20, (k) => [
      `part${k}`,
      {
        ...part,
        properties: { ...part.properties, name: { type: "string" }, size: { type: "integer", nullable: true } },
      },
    ]),
  );
  const schema = { type: "object", properties: { spec: { type: "object", properties: parts } } };
  const made = crd(`kind${i}s`, "sixty.example", `Kind${i}`, schema, {
    additionalPrinterColumns: [
      { name: "Name2", type: "string", jsonPath: ".spec.part0.name" },
      { name: "Size", type: "integer", jsonPath: ".spec.part0.size" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  });
  const spec = made["spec"] as { versions: object[] };
  const [first] = spec.versions;
  return { ...made, spec: { ...spec, versions: [first, { ...first, name: "v1beta1", storage: false }] } };
}
