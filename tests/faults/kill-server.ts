import { type Random, randomInt } from "@capstan/apimachinery";
import { ApiProcess } from "./api-process.ts";
import { Follower } from "./follower.ts";

const PATH = "/api/v1/namespaces/default/configmaps";
const WRITERS = 8;
const WATCHERS = 3;

/** Writes acknowledged over HTTPS, over many kills of the server. */
export interface KillSummary {
  readonly acknowledged: number;
  readonly seen: number;
  readonly expired: number;
}

/** Kills the HTTPS server without warning under load; watchers that resume by resourceVersion must see every write once. */
export async function killServerRounds(directory: string, rounds: number, random: Random): Promise<KillSummary> {
  let api = await ApiProcess.start(directory);
  const acknowledged = new Map<number, string>();
  const followers = Array.from({ length: WATCHERS }, () => new Follower(PATH));
  const start = Number(JSON.parse((await api.json("GET", PATH))?.body ?? "{}").metadata?.resourceVersion);
  for (const follower of followers) follower.begin(start);
  for (let round = 0; round < rounds; round++) {
    const stop = { now: false };
    const current = api;
    const following = followers.map((follower) => follower.follow(current));
    const writing = Array.from({ length: WRITERS }, (_, i) =>
      writeForever(current, `w${i}`, random, stop, acknowledged),
    );
    await new Promise((resolve) => setTimeout(resolve, 100 + randomInt(random, 500)));
    await api.kill("SIGKILL");
    stop.now = true;
    await Promise.all([...writing, ...following]);
    api = await ApiProcess.start(directory, api.port);
  }
  const last = await api.json("POST", PATH, { metadata: { name: `last-${rounds}` } });
  const end = Number(JSON.parse(last?.body ?? "{}").metadata?.resourceVersion);
  acknowledged.set(end, `last-${rounds}`);
  await Promise.all(followers.map((follower) => follower.follow(api, end)));
  await api.kill("SIGKILL");
  for (const follower of followers) follower.check(acknowledged);
  return {
    acknowledged: acknowledged.size,
    seen: Math.min(...followers.map((follower) => follower.seen.size)),
    expired: followers.reduce((sum, follower) => sum + follower.expired, 0),
  };
}

/** Creates, changes and deletes one object over and over, recording every acknowledged revision. */
export async function writeForever(
  api: ApiProcess,
  name: string,
  random: Random,
  stop: { now: boolean },
  acknowledged: Map<number, string>,
): Promise<void> {
  let step = 0;
  while (!stop.now) {
    const data = { n: `${step++}`, padding: "x".repeat(randomInt(random, 2000)) };
    const answer = await api.json("PUT", `${PATH}/${name}`, { metadata: { name }, data });
    if (answer === undefined) return;
    const made = answer.status === 404 ? await api.json("POST", PATH, { metadata: { name }, data }) : answer;
    if (made === undefined) return;
    if (made.status >= 300) throw new Error(`writing ${name}: ${made.status} ${made.body}`);
    const revision = Number(JSON.parse(made.body).metadata.resourceVersion);
    const other = acknowledged.get(revision);
    if (other !== undefined) throw new Error(`revision ${revision} was given to ${other} and to ${name}`);
    acknowledged.set(revision, name);
    // The answer to a deletion names no revision; the watch shows it all the same.
    if (randomInt(random, 5) === 0 && (await api.json("DELETE", `${PATH}/${name}`)) === undefined) return;
  }
}
