import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cluster, controlPlane, deployment, machine, type Said, type StoryObject } from "./objects.ts";
import { StoryPlane } from "./story-plane.ts";

let plane: StoryPlane;
let count = 0;

beforeAll(async () => {
  plane = await StoryPlane.start();
});

afterAll(async () => {
  await plane.stop();
});

const ago = fc.constantFrom(0, 5, 59, 61, 170, 190, 599, 601, 3000);
const status = fc.constantFrom("True" as const, "False" as const, "Unknown" as const);
const reasons = [
  "InsufficientCapacity",
  "AgentSilent",
  "ComponentsNotReady",
  "ConnectionDown",
  "Hibernated",
  "UpgradeFailed",
  "Upgrading",
  "InspectionFailed",
  "WaitingForBootstrapData",
  "ProgressDeadlineExceeded",
];
const messages = ["", "* Node.Ready: Kubelet stopped posting node status.", "cni plugin not initialized", "some text"];

/** Some conditions of these types, in any state. */
const said = (...types: string[]): fc.Arbitrary<Said[]> =>
  fc
    .tuple(
      ...types.map((type) =>
        fc.option(
          fc.record({
            type: fc.constant(type),
            status,
            ago,
            reason: fc.constantFrom(...reasons),
            message: fc.constantFrom(...messages),
          }),
          { nil: undefined, freq: 4 },
        ),
      ),
    )
    .map((all) => all.filter((each) => each !== undefined));

const world = fc.record({
  age: fc.constantFrom(1, 30, 300, 4000),
  paused: fc.boolean(),
  cluster: fc.option(
    said("Available", "RemoteConnectionProbe", "InfrastructureReady", "ControlPlaneAvailable", "WorkersAvailable"),
    { nil: undefined },
  ),
  plane: fc.option(said("Available", "UpToDate", "EtcdClusterHealthy", "Progressing"), { nil: undefined }),
  replicas: fc.constantFrom(0, 1, 3),
  group: said("Available", "MachinesReady", "MachinesUpToDate", "RollingOut", "Progressing", "Paused"),
  machines: fc.array(
    fc.record({
      said: said("Ready", "Available", "UpToDate", "NodeHealthy", "InfrastructureReady"),
      infra: said("Ready"),
      heardAgo: fc.option(ago, { nil: undefined }),
    }),
    { maxLength: 3 },
  ),
});

test("why, describe, get, the fleet, the cluster's page and the metrics show the same state", async () => {
  await fc.assert(
    fc.asyncProperty(world, async (told) => {
      const namespace = `n${++count}`;
      const objects = (nowMs: number): StoryObject[] => [
        cluster(nowMs, told.cluster, { paused: told.paused && told.age > 1 }),
        controlPlane(nowMs, told.plane),
        deployment(nowMs, { replicas: told.replicas, available: 0, said: told.group }),
        ...told.machines.flatMap(({ said: own, infra, heardAgo }, i) =>
          machine(nowMs, `m${i}`, own, {
            infra,
            ...(heardAgo === undefined ? {} : { host: { name: `h${i}`, heardAgo } }),
          }),
        ),
      ];
      await plane.tell(namespace, told.age, objects);
      const seen = await plane.surfaces(namespace, "demo");
      const { state } = seen.fleet.state;
      expect({
        why: /is (\w+)/.exec(seen.why)?.[1],
        describe: /is (\w+)/.exec(seen.describe)?.[1],
        get: seen.get.split(" ")[0],
        page: seen.page.get("Cluster/demo")?.state.state,
        metric: seen.metric,
      }).toEqual({ why: state, describe: state, get: state, page: state, metric: state });
      const causes = seen.page.get("Cluster/demo")?.causes ?? [];
      const printed = [...seen.why.matchAll(/^Cause(?: \d+ of \d+)?: (.*)$/gm)].map(([, text]) => text);
      expect(causes.map(({ cause }) => cause)).toEqual(printed);
      // A cluster is healthy exactly when there is nothing to explain, and every cause has a cure.
      expect(state === "Healthy").toBe(causes.length === 0);
      for (const { steps } of causes) expect(steps.length).toBeGreaterThan(0);
    }),
    { numRuns: 25, seed: 20260101 },
  );
}, 60_000);
