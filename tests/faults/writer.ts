/**
 * Writes to a store as fast as it can until it is killed, and prints acknowledged writes and watched changes:
 *   ack REVISION KEY VALUE     a write that was acknowledged (VALUE "-" for a deletion)
 *   seen REVISION              a change that a watcher received
 *   full MESSAGE               a write that failed
 */
import { randomInt, seededRandom, systemClock, type Unstructured } from "@capstan/apimachinery";
import { openLmdbStore, openObjectStore } from "@capstan/apiserver";

const [directory = "", seed = "1", writers = "16"] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const store = await openObjectStore(await openLmdbStore(directory), { clock: systemClock, ring: 2000 });
const say = (line: string): void => void process.stdout.write(`${line}\n`);

store.subscribe("", store.revision(), (changes) => {
  for (const change of changes) say(`seen ${change.revision}`);
});

let counter = 0;
async function write(): Promise<void> {
  const key = `core/configmaps/a/k${randomInt(random, 200)}`;
  const value = `${seed}.${counter++}`;
  const remove = randomInt(random, 5) === 0;
  const padding = "x".repeat(randomInt(random, randomInt(random, 20) === 0 ? 20_000 : 2_000));
  const object: Unstructured = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: key }, value, padding };
  const { changed, stored } = await store.mutate(key, () => (remove ? { type: "delete" } : { type: "put", object }));
  if (changed && stored !== undefined) say(`ack ${stored.revision} ${key} ${remove ? "-" : value}`);
}

let failed = false;
async function writeOn(): Promise<void> {
  while (!failed) {
    try {
      await write();
    } catch (error) {
      failed = true;
      say(`full ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

await Promise.all(Array.from({ length: Number(writers) }, writeOn));
await store.close();
