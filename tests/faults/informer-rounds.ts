import { type Random, randomInt } from "@capstan/apimachinery";
import { ApiProcess } from "./api-process.ts";
import { Informer } from "./informer.ts";
import { writeForever } from "./kill-server.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const WRITERS = 6;
const INFORMERS = 4;
/** A history so short that a sleeping client has to list again. */
const HISTORY = 50;

/** The result of the rounds. */
export interface InformerSummary {
  readonly acknowledged: number;
  readonly cuts: number;
  readonly expired: number;
}

/** Informers whose connections are cut, whose server restarts and whose revisions expire end with the stored objects, and miss nothing. */
export async function informerRounds(directory: string, restarts: number, random: Random): Promise<InformerSummary> {
  let api = await ApiProcess.start(directory, 0, HISTORY);
  const acknowledged = new Map<number, string>();
  const informers = Array.from({ length: INFORMERS }, () => new Informer(PATH));
  let cuts = 0;
  for (let round = 0; round <= restarts; round++) {
    const stop = { now: false };
    const current = api;
    const following = informers.map(async (informer, i) => {
      while (!stop.now) {
        const cut = new AbortController();
        const timer = setTimeout(() => cut.abort(), 20 + randomInt(random, 200));
        await informer.turn(current, cut.signal);
        clearTimeout(timer);
        cuts++;
        // One of them sleeps until its revision is compacted.
        const enough = acknowledged.size + (i === 0 ? 3 * HISTORY : 0);
        while (!stop.now && acknowledged.size < enough) await pause(5);
      }
    });
    const writing = Array.from({ length: WRITERS }, (_, i) =>
      writeForever(current, `w${i}`, random, stop, acknowledged),
    );
    const enough = acknowledged.size + 8 * HISTORY + randomInt(random, 100);
    for (let i = 0; i < 2000 && acknowledged.size < enough; i++) await pause(10);
    const last = round === restarts;
    if (!last) await current.kill(round % 2 === 0 ? "SIGKILL" : "SIGTERM");
    stop.now = true;
    await Promise.all([...writing, ...following]);
    if (!last) api = await ApiProcess.start(directory, api.port, HISTORY);
  }
  try {
    await settle(api, informers, acknowledged);
  } finally {
    await api.kill("SIGKILL");
  }
  const expired = informers.reduce((sum, informer) => sum + informer.expired, 0);
  if (expired === 0) throw new Error("no informer had to list again: the test proves nothing");
  return { acknowledged: acknowledged.size, cuts, expired };
}

/** A last write, which all must see; then every copy must equal a list. */
async function settle(
  api: ApiProcess,
  informers: readonly Informer[],
  acknowledged: Map<number, string>,
): Promise<void> {
  const made = await api.json("POST", PATH, { metadata: { name: "last" } });
  const end = Number(JSON.parse(made?.body ?? "{}").metadata?.resourceVersion);
  acknowledged.set(end, "last");
  await Promise.all(
    informers.map(async (informer) => {
      while (informer.revision < end) {
        const cut = new AbortController();
        const following = informer.turn(api, cut.signal);
        for (let i = 0; i < 400 && informer.revision < end; i++) await pause(5);
        cut.abort();
        await following;
      }
    }),
  );
  const list = JSON.parse((await api.json("GET", PATH))?.body ?? "{}") as {
    items: { metadata: { name: string; resourceVersion: string } }[];
  };
  const there = list.items.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
  for (const informer of informers) {
    const copy = [...informer.copy].map(([name, version]) => `${name}@${version}`).sort();
    if (copy.join() !== there.join()) throw new Error(`an informer has ${copy.join()}, there is ${there.join()}`);
    informer.check(acknowledged);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
