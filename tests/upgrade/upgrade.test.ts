import { findCondition, type KubeObject } from "@capstan/apimachinery";
import { Cluster, conditionsOf } from "@capstan/capi";
import { HostedControlPlane } from "@capstan/controlplane-hosted";
import { type Kind, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { picture } from "./picture.ts";
import { type Recorded, recordedAt } from "./recorded.ts";
import { World } from "./world.ts";

let recorded: Recorded;
beforeEach(async () => {
  recorded = await recordedAt("85f713a");
});
afterEach(() => recorded.remove());

async function statuses(world: World, kind: Kind<KubeObject>, type: string): Promise<(string | undefined)[]> {
  return (await world.list(kind)).map(
    (object) => findCondition(conditionsOf(object as { status?: unknown }), type)?.status,
  );
}

test("a data directory of an earlier commit starts with the same CAs, and no Machine is replaced", {
  timeout: 240_000,
}, async () => {
  const world = await World.open(recorded.dataDir, recorded.endMs + 60_000, silentLogger);
  try {
    const before = await picture(world);
    expect(Object.keys(before).filter((name) => name.startsWith("Machine "))).toHaveLength(3);
    expect(Object.keys(before)).toContain("Secret c1-ca");
    await world.startManager();
    await world.pass(120_000);
    expect(await picture(world)).toEqual(before);
    // The same CA and port: what connected to the API before does so again.
    expect(await statuses(world, HostedControlPlane, "Available")).toEqual(["True"]);
    expect(await statuses(world, Cluster, "RemoteConnectionProbe")).toEqual(["True"]);
  } finally {
    await world.close();
  }
});
