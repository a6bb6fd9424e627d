import { mkdir, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ID, RunnerWorld } from "../testing/runner-world.ts";

let world: RunnerWorld;

beforeEach(async () => {
  world = await RunnerWorld.create();
});
afterEach(() => world.close());

/** The folder of the only machine. */
async function folder(): Promise<string> {
  const [name = ""] = await readdir(join(world.folder, "vms"));
  return join(world.folder, "vms", name);
}

describe("keeps images", () => {
  /** Two hours after the images were requested last. */
  const expire = async (): Promise<void> => {
    for (const name of await readdir(join(world.folder, "images")))
      await utimes(join(world.folder, "images", name), 0, 0);
    await world.clock.advance(2 * 3_600_000);
  };
  const images = async (): Promise<number> => (await readdir(join(world.folder, "images"))).length;

  test("while a record cannot be read", async () => {
    await world.run();
    await expire();
    const file = join(await folder(), "machine.json");
    const record = await readFile(file, "utf8");
    await writeFile(file, record.slice(0, 100));
    await world.restartManager();
    expect(await images()).toBe(1);
    await writeFile(file, record);
    await world.restartManager();
    await world.phase("running");
    expect(await images()).toBe(1);
  });

  test("while a record has no order", async () => {
    await world.run();
    await expire();
    await writeFile(join(await folder(), "machine.json"), "{}");
    await world.restartManager();
    expect(await images()).toBe(1);
  });

  test("while the directory of machines cannot be read, and does not resume without it", async () => {
    await world.run();
    await expire();
    await rm(join(world.folder, "vms"), { recursive: true });
    await writeFile(join(world.folder, "vms"), "");
    await expect(world.restartManager()).rejects.toThrow("ENOTDIR");
    expect(await images()).toBe(1);
  });

  test("until no machine uses them", async () => {
    await world.run();
    await expire();
    await world.runner.destroy(ID);
    expect(await images()).toBe(0);
  });
});

test("one machine that cannot be taken up does not keep the others from it", async () => {
  await world.run();
  await world.runner.close();
  const { processes } = world;
  const find = processes.isRunning.bind(processes);
  let calls = 0;
  processes.isRunning = (identity) => {
    if (calls++ === 0) throw new Error("no permission");
    return find(identity);
  };
  await world.restartManager();
  await world.phase("running");
  expect(processes.started).toHaveLength(1);
});

test("shuts a guest down although the record cannot be written", async () => {
  await world.run();
  const file = join(await folder(), "machine.json");
  await rm(file);
  await mkdir(join(file, "taken"), { recursive: true });
  await world.runner.powerOff(ID, 60_000);
  await world.clock.advance(5000);
  await world.phase("terminated");
});
