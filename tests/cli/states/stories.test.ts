import type { StateName } from "@capstan/capi";
import { afterAll, beforeAll, expect, test } from "vitest";
import { STORIES, type Story } from "./stories.ts";
import { StoryPlane, type Surfaces } from "./story-plane.ts";

/** What each story must be; the golden files hold what the surfaces show of it. */
const EXPECTED: Readonly<Record<string, StateName>> = {
  "five-seconds-old": "Progressing",
  provisioning: "Progressing",
  healthy: "Healthy",
  "upgrade-3-of-7": "Progressing",
  "kubeadm-upgrade-1-of-3": "Progressing",
  "upgrade-stuck": "Degraded",
  "upgrade-past-its-deadline": "Degraded",
  "dead-host-and-pending-upgrade": "Degraded",
  hibernated: "Hibernated",
  paused: "Paused",
  "pool-5-of-7": "Progressing",
  unreachable: "Unknown",
};
let plane: StoryPlane;

beforeAll(async () => {
  plane = await StoryPlane.start();
});

afterAll(async () => {
  await plane.stop();
});

test.each(Object.entries(STORIES))("%s", async (name, story: Story) => {
  await plane.tell(name, story.ageSeconds, (nowMs) => story.objects(nowMs));
  const seen = await plane.surfaces(name, "demo");
  const expected = EXPECTED[name];
  expect({
    why: /is (\w+)/.exec(seen.why)?.[1],
    describe: /is (\w+)/.exec(seen.describe)?.[1],
    get: seen.get.split(" ")[0],
    fleet: seen.fleet.state.state,
    page: seen.page.get("Cluster/demo")?.state.state,
    metric: seen.metric,
  }).toEqual({
    why: expected,
    describe: expected,
    get: expected,
    fleet: expected,
    page: expected,
    metric: expected,
  });
  // The dashboard shows the causes that why prints, in the same order.
  const causes = seen.page.get("Cluster/demo")?.causes ?? [];
  const printed = [...seen.why.matchAll(/^Cause(?: \d+ of \d+)?: (.*)$/gm)].map(([, text]) => text);
  expect(causes.map(({ cause }) => cause)).toEqual(printed);
  // And what why says of a control plane's current step.
  for (const { doing } of seen.page.get("Cluster/demo")?.activities ?? []) expect(seen.why).toContain(doing);
  await expect(textOf(seen)).toMatchFileSnapshot(`golden/${name}.txt`);
});

test("a dead host and a pending upgrade are two causes with a remedy each, the host first", async () => {
  const story = STORIES["dead-host-and-pending-upgrade"];
  if (story === undefined) throw new Error("there is no such story");
  await plane.tell("two-causes", story.ageSeconds, (nowMs) => story.objects(nowMs));
  const { page, hosts, hostList } = await plane.surfaces("two-causes", "demo");
  const causes = page.get("Cluster/demo")?.causes ?? [];
  expect(causes.map(({ chain }) => `${chain.at(-1)?.kind}/${chain.at(-1)?.name}`)).toEqual([
    "ByoHost/own-1",
    "MachineDeployment/workers",
  ]);
  for (const { steps } of causes) expect(steps.length).toBeGreaterThan(0);
  expect(hosts.map(({ name, ready }) => `${name} ${ready}`)).toEqual(["own-1 Unknown", "own-2 True"]);
  expect(hostList).toMatch(/^own-1 +Unknown +AgentSilent/m);
  expect(hostList).toMatch(/^own-2 +True /m);
});

function textOf({ why, get, fleet, page, hosts, metric }: Surfaces): string {
  const line = ({ state, reason, message }: Surfaces["fleet"]["state"]): string => `${state} (${reason}) ${message}`;
  return [
    `get: ${get}`,
    `metric: ${metric}`,
    `fleet row: ${line(fleet.state)}`,
    ...[...page].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, { state }]) => `page, ${id}: ${line(state)}`),
    ...hosts.map(({ name, ready, health }) => `hosts, ${name}: Ready ${ready}, ${line(health)}`),
    "--- why",
    why,
  ]
    .map((text) => text.trimEnd())
    .join("\n")
    .concat("\n");
}
