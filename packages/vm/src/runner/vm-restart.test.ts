import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ID, RunnerWorld } from "../testing/runner-world.ts";

let world: RunnerWorld;

beforeEach(async () => {
  world = await RunnerWorld.create();
});
afterEach(() => world.close());

/** QEMU exits, and the delay before the next start passes. */
async function crash(delayMs: number): Promise<void> {
  world.processes.last.exit(1);
  await world.phase("restarting");
  await world.clock.advance(delayMs);
}

describe("after QEMU has exited", () => {
  test("starts it again on the same disks, later each time, and three crashes in ten minutes are a fault", async () => {
    await world.run();
    await crash(1000);
    await world.phase("running");
    await crash(2000);
    await world.phase("running");
    world.processes.last.exit(1);
    expect(await world.phase("failed")).toMatchObject({
      reason: "CrashLoop",
      message: expect.stringContaining("QEMU has exited 3 times within ten minutes"),
      restarts: 2,
    });
    await world.clock.advance(3_600_000);
    await world.ensure();
    expect(world.processes.started).toHaveLength(3);
    expect(world.seeds).toBe(1);
  });

  test("starts it again as often as it takes when the crashes are rare", async () => {
    await world.run();
    for (let round = 0; round < 4; round++) {
      await crash(1000);
      await world.phase("running");
      await world.clock.advance(600_000);
    }
    expect((await world.status()).restarts).toBe(4);
  });

  test.each([
    ["Always", "restarting"],
    ["OnFailure", "terminated"],
    ["Never", "terminated"],
  ] as const)("because the guest powered off: with %s it is %s", async (restartPolicy, phase) => {
    await world.run({ restartPolicy });
    world.processes.last.powerOff();
    await world.phase(phase);
  });

  test.each([
    ["OnFailure", "restarting"],
    ["Never", "terminated"],
  ] as const)("because it crashed: with %s it is %s", async (restartPolicy, phase) => {
    await world.run({ restartPolicy });
    world.processes.last.exit(undefined);
    await world.phase(phase);
    await world.clock.advance(60_000);
    await world.ensure({ restartPolicy });
    expect(world.processes.started).toHaveLength(phase === "terminated" ? 1 : 2);
  });
});

describe("after a restart of the manager", () => {
  test("finds a machine again by its pid and start time, and talks to it", async () => {
    await world.run();
    await world.restartManager();
    const status = await world.phase("running");
    expect(status).toMatchObject({ pid: 1000, qemuVersion: "7.2.0" });
    await world.ensure();
    expect(world.processes.started).toHaveLength(1);
  });

  test("finds a process whose pid was not written any more, by its UUID", async () => {
    await world.run();
    const [name = ""] = await readdir(join(world.folder, "vms"));
    const file = join(world.folder, "vms", name, "machine.json");
    await world.runner.close();
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), process: undefined }));
    await world.restartManager();
    await world.phase("running");
    await world.ensure();
    expect(world.processes.started).toHaveLength(1);
  });

  test("starts a machine that exited meanwhile", async () => {
    await world.run();
    await world.runner.close();
    world.processes.last.exit(1);
    await world.restartManager();
    expect(await world.status()).toMatchObject({ phase: "restarting", message: expect.stringContaining("no manager") });
    await world.clock.advance(1000);
    await world.phase("running");
    expect(world.processes.started).toHaveLength(2);
  });

  test("notices the exit of a process that it has not started", async () => {
    await world.run();
    await world.restartManager();
    await world.phase("running");
    world.processes.last.exit(1);
    await world.phase("restarting");
  });

  test("takes a restart of the host for no crash", async () => {
    await world.run();
    for (let round = 0; round < 4; round++) {
      await world.runner.close();
      world.processes.last.exit(undefined);
      world.bootId = `boot-${round + 2}`;
      await world.restartManager();
      await world.clock.advance(60_000);
      await world.phase("running");
    }
  });
});

describe("shuts a guest down", () => {
  test("through its agent", async () => {
    await world.run();
    const qemu = world.processes.last;
    qemu.agentAnswers = true;
    expect(await world.runner.powerOff(ID, 600_000)).toMatchObject({ phase: "stopping", reason: "ShuttingDown" });
    await world.until(() => qemu.commands.includes("guest-shutdown"));
    expect(qemu.commands).not.toContain("system_powerdown");
    qemu.powerOff();
    expect(await world.phase("terminated")).toMatchObject({ reason: "Terminated" });
    await world.clock.advance(600_000);
    await world.ensure();
    expect(world.processes.started).toHaveLength(1);
    expect(qemu.commands).not.toContain("quit");
  });

  test("by the power button when the agent accepts and the guest does not follow", async () => {
    await world.run();
    const qemu = world.processes.last;
    qemu.agentAnswers = true;
    await world.runner.powerOff(ID, 60_000);
    await world.until(() => qemu.commands.includes("guest-shutdown"));
    await new Promise((resolve) => setImmediate(resolve));
    await world.clock.advance(30_000);
    await world.phase("terminated");
    expect(qemu.commands).toContain("system_powerdown");
  });

  test("by the power button when there is no agent", async () => {
    await world.run();
    await world.runner.powerOff(ID, 60_000);
    await world.clock.advance(5000);
    await world.phase("terminated");
    expect(world.processes.last.commands.slice(-1)).toEqual(["system_powerdown"]);
  });

  test("by a power cut when the guest does not react, at the end of its time", async () => {
    await world.run();
    const qemu = world.processes.last;
    qemu.obeysPowerButton = false;
    await world.runner.powerOff(ID, 60_000);
    await world.clock.advance(59_999);
    expect(qemu.running).toBe(true);
    await world.clock.advance(1);
    await world.phase("terminated");
    expect(qemu.commands).toContain("quit");
  });

  test("across a restart of the manager, within the same time", async () => {
    await world.run();
    const qemu = world.processes.last;
    qemu.obeysPowerButton = false;
    await world.runner.powerOff(ID, 60_000);
    await world.clock.advance(40_000);
    await world.restartManager();
    expect(await world.status()).toMatchObject({ phase: "stopping" });
    await world.clock.advance(20_000);
    await world.phase("terminated");
  });

  test("at once when it does not run", async () => {
    await world.ensure();
    expect(await world.runner.powerOff(ID, 60_000)).toMatchObject({ phase: "terminated" });
    expect(await world.runner.powerOff("default/none", 60_000)).toBeUndefined();
  });
});
