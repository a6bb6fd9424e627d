import type { ApiProcess } from "./api-process.ts";
import type { WorstRequest } from "./worst-requests.ts";

const AT_ONCE = 50;
const POLL_MS = 20;
const PATIENCE_MS = 120_000;

/** Sends one request; its status, 0 without an answer. */
export async function send(api: ApiProcess, one: WorstRequest): Promise<number> {
  const { method, path, type = "application/json", accept = "application/json", headers = {} } = one;
  const made = one.body?.();
  const body = typeof made === "string" || made === undefined || Buffer.isBuffer(made) ? made : JSON.stringify(made);
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const answer = await api.send(method, path, { "content-type": type, accept, ...headers }, bytes);
  if (!api.running()) throw new Error(`the server died of ${one.name}`);
  return answer?.status ?? 0;
}

/** Makes the state that a request needs, again for every attempt: a missing or existing object costs little. */
export async function beforehand(api: ApiProcess, one: WorstRequest): Promise<void> {
  if (one.fill !== undefined) {
    const { path, count, make } = one.fill;
    const numbers = Array.from({ length: count }, (_, i) => i);
    await inParallel(numbers, (i) => api.json("POST", path, make(i)));
  }
  for (const step of one.before ?? []) {
    await beforehand(api, step);
    await send(api, step);
    if (step.method === "DELETE") await untilGone(api, step.path);
  }
}

/** Deletes what a create has made, so that the next attempt creates it again. */
export async function afterwards(api: ApiProcess, { method, path, body }: WorstRequest, status: number): Promise<void> {
  if (method !== "POST" || status !== 201) return;
  const made = body?.();
  const name = (made as { metadata?: { name?: string } } | undefined)?.metadata?.name;
  const object = `${path.split("?")[0] ?? ""}/${name}`;
  if (name === undefined || (await api.json("GET", object))?.status !== 200) return;
  const merge = { "content-type": "application/merge-patch+json" };
  await api.send("PATCH", object, merge, Buffer.from('{"metadata":{"finalizers":null}}'));
  await api.json("DELETE", object);
  await untilGone(api, object);
}

/** Waits until a path is a 404, or a list without items. */
export async function untilGone(api: ApiProcess, path: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  const separator = path.includes("?") ? "&" : "?";
  for (;;) {
    const answer = await api.json("GET", `${path}${separator}limit=1`);
    if (answer?.status === 404 || answer?.body.includes('"items":[]') === true) return;
    if (Date.now() > deadline) throw new Error(`${path} does not go`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Runs them with limited concurrency. */
export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < items.length; i += AT_ONCE) await Promise.all(items.slice(i, i + AT_ONCE).map(work));
}
