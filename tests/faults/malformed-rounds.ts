import type { Random } from "@capstan/apimachinery";
import type { ApiProcess } from "./api-process.ts";
import { isBusy } from "./machine-speed.ts";
import { type MalformedRequest, malformedRequest } from "./malformed.ts";
import { MALFORMED_FIXTURES } from "./malformed-fixtures.ts";

const BATCH = 20;
const STALL_MS = 100;
const ATTEMPTS = 9;
/** Sends generated requests: none may cause a 5xx or go unanswered, and none may hold up the others. */
export async function malformedRounds(api: ApiProcess, count: number, random: Random): Promise<Map<number, number>> {
  for (const { path, body } of MALFORMED_FIXTURES) await api.json("POST", path, body);
  const statuses = new Map<number, number>();
  // One-time costs (compiling schemas on first use) are not measured.
  for (let i = 0; i < 40; i++) await sendOne(api, malformedRequest(random));
  await api.longestStall();
  for (let sent = 0; sent < count; sent += BATCH) {
    const batch = Array.from({ length: BATCH }, () => malformedRequest(random));
    for (const status of await Promise.all(batch.map((one) => sendOne(api, one))))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if ((await api.longestStall()) > STALL_MS) await findStall(api, batch);
  }
  if ((await api.json("GET", "/readyz"))?.status !== 200) throw new Error("the server is not ready any more");
  return statuses;
}

async function sendOne(api: ApiProcess, one: MalformedRequest): Promise<number> {
  const answer = await api.send(one.method, one.path, one.headers, one.body);
  if (!api.running()) throw new Error(`the server died of ${describe(one)}`);
  if (answer === undefined) throw new Error(`no answer to ${describe(one)}`);
  // kube-apiserver answers some mistakes with a bare 500 (docs/differences.md, `mistakes-are-400`); we answer none with one.
  if (answer.status >= 500) throw new Error(`${answer.status} for ${describe(one)}: ${answer.body.slice(0, 500)}`);
  return answer.status;
}

/** Repeats the requests one by one: a busy machine stalls once, a malicious request every time. */
async function findStall(api: ApiProcess, batch: readonly MalformedRequest[]): Promise<void> {
  for (const one of batch) {
    let shortest = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < ATTEMPTS && shortest > STALL_MS; attempt++) {
      const { cpuMs, heldMs } = await api.longestBlock(() => sendOne(api, one));
      shortest = Math.min(shortest, isBusy() ? cpuMs : heldMs);
    }
    if (shortest > STALL_MS) throw new Error(`the event loop stood still for ${shortest} ms at ${describe(one)}`);
  }
}

function describe({ method, path, headers, body }: MalformedRequest): string {
  const start = body === undefined ? "" : ` ${JSON.stringify(body.subarray(0, 300).toString("latin1"))}`;
  return `${method} ${path} ${JSON.stringify(headers)}${start} (${body?.length ?? 0} bytes)`;
}
