import { findCondition, type KubeObject } from "@capstan/apimachinery";
import { Cluster, conditionsOf, Machine, MachineDeployment, MachineSet, Secret } from "@capstan/capi";
import { HostedControlPlane } from "@capstan/controlplane-hosted";
import { type Kind, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Recorded, recordedAt } from "./recorded.ts";
import { World } from "./world.ts";

let recorded: Recorded;
beforeEach(async () => {
  recorded = await recordedAt("85f713a");
});
afterEach(() => recorded.remove());

/** What a rollout would change: the keys of a cluster, and which Machines there are. */
async function picture(world: World): Promise<Record<string, unknown>> {
  const secrets = (await world.list(Secret)).filter(({ metadata }) =>
    /^c1-(ca|etcd|proxy|sa)$/.test(metadata.name ?? ""),
  );
  const rolling: KubeObject[] = [
    ...(await world.list(Machine)),
    ...(await world.list(MachineSet)),
    ...(await world.list(MachineDeployment)),
    ...(await world.list(HostedControlPlane)),
  ];
  return {
    ...Object.fromEntries(secrets.map(({ metadata, data }) => [`Secret ${metadata.name}`, data])),
    ...Object.fromEntries(
      rolling.map((object) => [
        `${object.kind} ${object.metadata.name}`,
        { uid: object.metadata.uid, spec: (object as { spec?: unknown }).spec },
      ]),
    ),
  };
}

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
