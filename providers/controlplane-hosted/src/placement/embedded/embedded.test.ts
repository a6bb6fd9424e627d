import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { openDialGate } from "@capstan/runtime";
import { EmbeddedClusters } from "@capstan/workloads";
import { test } from "vitest";
import { type PlacementWorld, placementCases } from "../../contract-suite/placement-cases.ts";
import { EmbeddedPlacement } from "./embedded.ts";

function open(): Promise<PlacementWorld> {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const clusters = new EmbeddedClusters({ gate: openDialGate(), clock, random, log: () => undefined });
  const make = (): EmbeddedPlacement => new EmbeddedPlacement({ clusters, clock, random });
  const numbers = new Map<object, number>();
  /** Names a server so that another one of the same owner has another name. */
  const serverOf = (owner: string): string | undefined => {
    const server = clusters.get(owner)?.server;
    if (server === undefined) return undefined;
    if (!numbers.has(server)) numbers.set(server, numbers.size);
    return `server ${numbers.get(server)}`;
  };
  return Promise.resolve({
    placement: make(),
    clock,
    spec: {},
    again: () => Promise.resolve(make()),
    progress: () => clock.advance(10),
    things: (owner) => Promise.resolve([serverOf(owner)].filter((name) => name !== undefined)),
    dataOf: (owner) => Promise.resolve(serverOf(owner)),
    close: () => clusters.close(),
  });
}

for (const { name, run } of placementCases(open)) test(`Embedded: ${name}`, run);
