import { readdirSync, readFileSync } from "node:fs";
import { deepEqual } from "@capstan/apimachinery";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { STORIES, type Story } from "../../providers/controlplane-kubeadm/testdata/control-plane.stories.mjs";
import { type State, type Told, tell } from "../../providers/controlplane-kubeadm/testdata/control-plane.tell.mjs";
import { Plane } from "./plane.ts";
import { DIFFERENCES, flatten, OPEN } from "./upstream-differences.ts";
import { memoryWorld } from "./upstream-world.ts";

const folder = new URL("../../providers/controlplane-kubeadm/testdata/upstream/stories/", import.meta.url);
const recordings = readdirSync(folder).map(
  (file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Told & { story: string },
);
const planes: Plane[] = [];
const ran = new Set<string>();
const seen = new Set<string>();
afterEach(async () => {
  for (const plane of planes.splice(0)) await plane.close();
});

describe("stories of control planes, recorded from upstream's managers", () => {
  it.each(recordings.map((recording) => [recording.story, recording] as const))(
    "%s",
    async (name, recorded) => {
      const story = STORIES[name];
      if (story === undefined) throw new Error(`${name} is recorded, but no story any more: remove the recording`);
      ran.add(name);
      const plane = await Plane.start({ own: 0, metal: 0, namespace: "story" });
      planes.push(plane);
      const told = await tell(memoryWorld(plane), story);
      expect(inOrder(told.machines)).toEqual(inOrder(recorded.machines));
      // The log of Machines has the steps of the story; how far the members are by then depends on when was looked.
      const members = (log: readonly string[]): string[] =>
        inOrder(log).filter((line) => !isOpen(name, line) && !line.startsWith("#"));
      const expected = members(recorded.members);
      expect(settleMoments(members(told.members), expected)).toEqual(expected);
      expect(told.states.map(({ after }) => after)).toEqual(recorded.states.map(({ after }) => after));
      for (const [index, state] of recorded.states.entries())
        if (isAtRest(story, index))
          expect(differences(name, told.states[index], state), `after ${state.after}`).toEqual([]);
    },
    180_000,
  );

  it("are all recorded", () => {
    expect(recordings.map(({ story }) => story).sort()).toEqual(Object.keys(STORIES).sort());
  });

  afterAll(() => {
    if (ran.size < recordings.length) return;
    const stale = [...DIFFERENCES, ...OPEN].filter(({ reason }) => !seen.has(reason));
    expect(stale, "differences that are listed but not seen").toEqual([]);
  });
});

/**
 * The order without what depends on how often was looked: with their Cluster all Machines are deleted together and end in any order, and
 * the leadership that a member hands over before it leaves may be seen at the same time.
 */
function inOrder(log: readonly string[]): string[] {
  const end = log.findIndex((line) => line.includes("deleteCluster"));
  const together = end < 0 ? [] : log.slice(end);
  const lines = log.slice(0, log.length - together.length);
  for (let index = 1; index < lines.length; index++) {
    const [before = "", line = ""] = lines.slice(index - 1, index + 1);
    if (line.startsWith("leader ") && before.startsWith("leaves ")) lines.splice(index - 1, 2, line, before);
  }
  return [...lines, ...together.toSorted()];
}

/**
 * Puts changes of members that were seen at the same moment, so that their order is unknown, into the recorded order if they are the
 * recorded ones. The log of Machines has the order of the decisions behind them.
 */
function settleMoments(log: readonly string[], recorded: readonly string[]): string[] {
  const settled: string[] = [];
  for (let index = 0; index < log.length; ) {
    const mark = / @\d+$/.exec(log[index] ?? "")?.[0];
    let end = index + 1;
    while (mark !== undefined && log[end]?.endsWith(mark)) end++;
    const moment = log.slice(index, end).map((line) => line.replace(/ @\d+$/, ""));
    const same = recorded.slice(index, end);
    settled.push(...(moment.toSorted().join() === same.toSorted().join() ? same : moment));
    index = end;
  }
  return settled;
}

/** Whether upstream itself decides differently from one recording to the next. */
function isOpen(story: string, line: string): boolean {
  const known = OPEN.find((each) => each.lines.test(line) && each.stories.test(story));
  if (known !== undefined) seen.add(known.reason);
  return known !== undefined;
}

/** Whether nothing moved when a state was described: the first is that before all steps. */
function isAtRest({ start, steps = [] }: Story, index: number): boolean {
  const until = index === 0 ? start : steps[index - 1]?.until;
  return until === undefined || until.quiet === true || until.deleted === true;
}

function differences(story: string, ours: State | undefined, upstream: State): string[] {
  const [a, b] = [flatten(readable(ours)), flatten(readable(upstream))];
  const paths = [...new Set([...a.keys(), ...b.keys()])].filter((path) => !deepEqual(a.get(path), b.get(path)));
  return paths
    .filter((path) => {
      const known = DIFFERENCES.find((each) => each.path.test(path) && (each.stories?.test(story) ?? true));
      if (known !== undefined) seen.add(known.reason);
      return known === undefined;
    })
    .map((path) => `${path}: ours ${JSON.stringify(a.get(path))}, upstream ${JSON.stringify(b.get(path))}`);
}

/** kubeadm-config as an object. */
function readable(state: State | undefined): unknown {
  const text = state?.workload?.kubeadmConfig;
  if (typeof text !== "string") return state;
  return { ...state, workload: { ...state?.workload, kubeadmConfig: parse(text) as unknown } };
}
