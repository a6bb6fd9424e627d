import { isObject } from "@capstan/apimachinery";
import { expect, test, vi } from "vitest";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { CountingTransport } from "../testing/counting-transport.ts";
import { HostWorld } from "../testing/host-world.ts";

vi.setConfig({ testTimeout: 60_000 });

const IMAGE = { url: "http://images/live.iso", format: "live-iso" };

/** Runs a story whose controller is killed after `cutAfter` writes and started anew. */
async function story(
  cutAfter: number | undefined,
  act: (world: HostWorld) => Promise<void>,
): Promise<{ picture: unknown; writes: number }> {
  const world = await HostWorld.start();
  try {
    await world.addSecret("bmc");
    await world.addHost();
    let line: CountingTransport | undefined;
    await world.startController((inner) => {
      line = new CountingTransport(inner, cutAfter);
      return line;
    });
    await act(world);
    await world.pass(30);
    const writes = line?.writes ?? 0;
    await world.startController();
    await world.pass(120);
    return {
      picture: {
        host: timeless(world.host()),
        hardware: timeless(world.hardwareData()),
        machine: world.bmcs.look("memory://rack1/h1") ?? { on: false, media: undefined },
        secret: timeless(world.secret()),
      },
      writes,
    };
  } finally {
    await world.close();
  }
}

test("killed after every single write from nothing to provisioned, the end is the same", async () => {
  const act = async (world: HostWorld): Promise<void> => {
    await world.change({ spec: { image: IMAGE } });
  };
  const expected = await story(undefined, act);
  expect(expected.writes).toBeGreaterThan(5);
  for (let k = 1; k <= expected.writes; k++)
    expect((await story(k, act)).picture, `after write ${k}`).toEqual(expected.picture);
});

test("killed after every single write while being deleted, nothing is left", async () => {
  const act = async (world: HostWorld): Promise<void> => {
    await world.change({ spec: { image: IMAGE } });
    await world.pass(30);
    await world.remove();
  };
  const expected = await story(undefined, act);
  expect(expected.picture).toMatchObject({
    host: undefined,
    hardware: undefined,
    machine: { on: false, media: undefined },
  });
  for (let k = 1; k <= expected.writes; k++)
    expect((await story(k, act)).picture, `after write ${k}`).toEqual(expected.picture);
});

const CHANGING = new Set([
  "resourceVersion",
  "uid",
  "creationTimestamp",
  "managedFields",
  "lastTransitionTime",
  "generation",
  "observedGeneration",
  "lastUpdated",
  "credentialsVersion",
  "operationHistory",
]);

function timeless(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(timeless);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value as Partial<BareMetalHost>)
      .filter(([name]) => !CHANGING.has(name))
      .map(([name, inner]) => [name, timeless(inner)]),
  );
}
