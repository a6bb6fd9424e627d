import { findCondition, type KubeObject } from "@capstan/apimachinery";
import { Cluster, conditionsOf, KubeadmConfig, KubeadmControlPlane, Machine } from "@capstan/capi";
import { silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Recorded, recordedAt } from "./recorded.ts";
import { World } from "./world.ts";

let recorded: Recorded;
let world: World;
beforeEach(async () => {
  recorded = await recordedAt("c2b8d1e8");
  world = await World.open(recorded.dataDir, recorded.endMs + 60_000, silentLogger);
});
afterEach(async () => {
  await world.close();
  await recorded.remove();
});

async function uids(): Promise<Record<string, string | undefined>> {
  const objects: KubeObject[] = [
    ...(await world.list(Machine)),
    ...(await world.list(KubeadmConfig)),
    ...(await world.list(KubeadmControlPlane)),
  ];
  return Object.fromEntries(objects.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, metadata.uid]));
}

const statusOf = (object: object, type: string): string | undefined =>
  findCondition(conditionsOf(object as { status?: unknown }), type)?.status;

/** Lets three minutes pass, in which no Machine may be created or deleted, even for a moment. */
async function passUnchanged(before: Record<string, string | undefined>): Promise<void> {
  for (let seconds = 0; seconds < 180; seconds += 5) {
    await world.pass(5_000);
    expect(await uids(), `after ${seconds} s`).toEqual(before);
  }
}

test("no control plane Machine of an earlier commit is replaced, and all count as up to date", {
  timeout: 240_000,
}, async () => {
  const before = await uids();
  const specs = (await world.list(Machine)).map(({ metadata, spec }) => [metadata.name, spec]);
  expect(specs).toHaveLength(7);
  const planes = await world.list(KubeadmControlPlane);
  const annotated = planes.filter(
    ({ metadata }) => metadata.annotations?.["capstan.dev/drop-removed-flags"] === "true",
  );
  expect(annotated.map(({ metadata }) => metadata.name)).toEqual(["dropping"]);
  await world.startManager();
  await passUnchanged(before);
  expect((await world.list(Machine)).map(({ metadata, spec }) => [metadata.name, spec])).toEqual(specs);
  for (const plane of await world.list(KubeadmControlPlane)) {
    const { name } = plane.metadata;
    const { replicas } = plane.spec;
    expect(plane.status, name).toMatchObject({ replicas, upToDateReplicas: replicas, readyReplicas: replicas });
    expect(statusOf(plane, "RollingOut"), name).toBe("False");
    expect(statusOf(plane, "MachinesUpToDate"), name).toBe("True");
    expect(statusOf(plane, "Available"), name).toBe("True");
  }
  expect((await world.list(Cluster)).map((cluster) => statusOf(cluster, "Available"))).toEqual([
    "True",
    "True",
    "True",
  ]);
});

test("a change of the spec after the upgrade replaces the Machines of that control plane alone", {
  timeout: 240_000,
}, async () => {
  const before = new Set((await world.list(Machine)).map(({ metadata }) => metadata.uid));
  await world.startManager();
  const key = { kind: KubeadmControlPlane, namespace: "default", name: "plain" };
  await world.client.patch(key, { spec: { kubeadmConfigSpec: { postKubeadmCommands: ["true"] } } });
  await world.until(async () => {
    const machines = await world.list(Machine);
    const replaced = machines.filter(({ metadata }) => !before.has(metadata.uid));
    return machines.length === 7 && replaced.length === 1 && replaced[0]?.spec.clusterName === "plain";
  });
});
