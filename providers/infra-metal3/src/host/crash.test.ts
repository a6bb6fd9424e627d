import { CountingTransport, timeless } from "@capstan/capi/testing";
import { expect, test, vi } from "vitest";
import { HostWorld } from "../testing/host-world.ts";

vi.setConfig({ testTimeout: 60_000 });

/** Fields of hosts that differ between two runs. */
const CHANGING = ["lastUpdated", "credentialsVersion", "operationHistory"];
const IMAGE = { url: "http://images/live.iso", format: "live-iso" };

/** Runs a story whose controller is killed after `cutAfter` writes and started again. */
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
        host: timeless(world.host(), CHANGING),
        hardware: timeless(world.hardwareData(), CHANGING),
        machine: world.bmcs.look("memory://rack1/h1") ?? { on: false, media: undefined },
        secret: timeless(world.secret(), CHANGING),
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
