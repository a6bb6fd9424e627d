import type { ApiProcess } from "./api-process.ts";
import { slowness } from "./machine-speed.ts";
import type { Stall } from "./stall-meter.ts";
import { repeat } from "./worst-bodies.ts";
import { crd, GEAR_CRD } from "./worst-kinds.ts";
import { WORST, type WorstRequest } from "./worst-requests.ts";

/** Of processor time: it leaves room for what the clock counts besides, so that nobody waits for more than 100 ms. */
const LIMIT_MS = 80;
const ATTEMPTS = 3;
const MORE_ATTEMPTS = 7;
const KINDS = 60;
const AT_ONCE = 50;
const WATCHERS = 3_000;

/** What the requests that ask for the most work did to the event loop. */
interface WorstOutcome {
  readonly requests: number;
  /** The longest stall that a request causes again and again, and which one. */
  readonly longest: Stall;
  readonly at: string;
}

/** Sends the requests that ask for the most work; none may keep the event loop from the others for more than 100 ms. */
export async function worstRounds(api: ApiProcess, objects: number, only = ""): Promise<WorstOutcome> {
  await prepare(api, objects);
  const limit = LIMIT_MS * slowness();
  let longest: Stall = { cpuMs: 0, clockMs: 0 };
  let at = "";
  const failures: string[] = [];
  const end = await api.watchMany("/api/v1/namespaces/watched/configmaps?watch=1", WATCHERS);
  for (const one of WORST) {
    if (!one.name.includes(only)) continue;
    let status = 0;
    const stalls: Stall[] = [];
    let usual = longest;
    // A busy machine, or its garbage collector, is slow once; a bad request every time: what counts is the middle one.
    for (let most = ATTEMPTS; stalls.length < most; ) {
      for (const step of one.before ?? []) await send(api, step);
      stalls.push(
        await api.longestBlock(async () => {
          status = await send(api, one);
        }),
      );
      if (stalls.length < most) continue;
      usual = middle(stalls);
      if (usual.cpuMs > limit) most = MORE_ATTEMPTS;
    }
    if (process.env["FAULTS_VERBOSE"] !== undefined) console.log(`    ${milliseconds(usual)}  ${status}  ${one.name}`);
    if (status === 0 || status >= 500) failures.push(`${one.name}: ${status === 0 ? "no answer" : status}`);
    if (usual.cpuMs > limit) failures.push(`${one.name}: ${milliseconds(usual)}`);
    if (usual.cpuMs > longest.cpuMs) {
      longest = usual;
      at = one.name;
    }
  }
  end();
  if (failures.length > 0) throw new Error(`requests that hold up the others:\n  ${failures.join("\n  ")}`);
  return { requests: WORST.length, longest, at };
}

function middle(stalls: readonly Stall[]): Stall {
  const sorted = stalls.toSorted((a, b) => a.cpuMs - b.cpuMs);
  return sorted[sorted.length >> 1] ?? { cpuMs: 0, clockMs: 0 };
}

/** Both measures as text. */
export function milliseconds({ cpuMs, clockMs }: Stall): string {
  return `${cpuMs.toFixed(0).padStart(4)} ms of processor time, ${clockMs.toFixed(0).padStart(4)} by the clock`;
}

async function send(api: ApiProcess, one: WorstRequest): Promise<number> {
  const { method, path, type = "application/json", accept = "application/json", headers = {} } = one;
  const made = one.body?.();
  const body = typeof made === "string" || made === undefined || Buffer.isBuffer(made) ? made : JSON.stringify(made);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const answer = await api.send(method, path, { "content-type": type, accept, ...headers }, bytes);
  if (!api.running()) throw new Error(`the server died of ${one.name}`);
  return answer?.status ?? 0;
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

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < items.length; i += AT_ONCE) await Promise.all(items.slice(i, i + AT_ONCE).map(work));
}
