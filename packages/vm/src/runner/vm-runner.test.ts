import { readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ID, RunnerWorld } from "../testing/runner-world.ts";

const GIB = 2 ** 30;
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

describe("starts a machine", () => {
  test("with its disks, its seed and the accelerator that works", async () => {
    const status = await world.run();
    expect(status).toMatchObject({
      phase: "running",
      reason: "Running",
      pid: 1000,
      qemuVersion: "7.2.0",
      accelerator: "tcg",
      restarts: 0,
      drift: [],
      disks: [
        { name: "root", bytes: 20 * GIB },
        { name: "containerfs", bytes: GIB },
      ],
    });
    expect(world.processes.started).toHaveLength(1);
    expect((await readdir(await folder())).sort()).toEqual(
      ["containerfs.raw", "machine.json", "qemu.log", "root.qcow2", "run", "seed"].filter(
        (name) => name !== "qemu.log",
      ),
    );
  });

  test("and requests its seed once, which no argument, record or log repeats", async () => {
    await world.run();
    await world.ensure();
    expect(world.seeds).toBe(1);
    const seed = join(await folder(), "seed");
    expect((await readFile(seed)).includes("secret-token")).toBe(true);
    expect((await stat(seed)).mode & 0o777).toBe(0o400);
    expect(world.processes.last.args.join(" ")).not.toContain("secret-token");
    expect(await readFile(join(await folder(), "machine.json"), "utf8")).not.toContain("secret-token");
  });

  test("once its image has been fetched, and reports it until then", async () => {
    expect(await world.ensure()).toMatchObject({ phase: "preparing", reason: "ImageDownloading" });
    await world.until(() => world.changes.length > 1);
    await world.run();
  });

  test("with an Ignition configuration through the firmware interface", async () => {
    await world.until(
      async () =>
        (
          await world.runner.ensure(world.order(), () =>
            Promise.resolve({ type: "ignition", config: "{}", name: "opt/org.flatcar-linux/config" }),
          )
        ).phase === "running",
    );
    expect(world.processes.last.option("-fw_cfg")).toMatch(/^name=opt\/org\.flatcar-linux\/config,file=.*\/seed$/);
  });
});

describe("reports what keeps a machine from starting:", () => {
  const blocked = async (reason: string, more: Parameters<RunnerWorld["ensure"]>[0] = {}): Promise<void> => {
    await world.until(async () => (await world.ensure(more)).reason === reason);
    expect(await world.status()).toMatchObject({ phase: "preparing", message: expect.stringMatching(/.{20}/) });
    expect(world.processes.started).toEqual([]);
  };

  test("an image outside the allowed folders", () =>
    blocked("ImageRefused", { image: { location: { type: "file", path: "/etc/passwd" }, format: "raw" } }));
  test("an image that is missing", () =>
    blocked("ImageNotFound", {
      image: { location: { type: "file", path: join(world.folder, "allowed/none.img") }, format: "raw" },
    }));
  test("a shared folder outside the allowed folders", () =>
    blocked("PathRefused", { hostVolumes: [{ tag: "etc", path: "/etc" }] }));
  test("a kernel outside the allowed folders", () =>
    blocked("PathRefused", { boot: { type: "kernel", kernel: "/boot/vmlinuz", args: "" } }));
  test("a mount tag of 32 characters", () =>
    blocked("SpecInvalid", { hostVolumes: [{ tag: "t".repeat(32), path: join(world.folder, "allowed") }] }));
  test("KVM that is required and does not work", () => blocked("KVMNotAvailable", { accelerator: "kvm" }));
  test("a disk that is smaller than its image", async () => {
    await writeFile(join(world.folder, "allowed/disk.img"), "");
    await truncate(join(world.folder, "allowed/disk.img"), GIB);
    await blocked("DiskRefused", { disks: [{ name: "root", bytes: 1024 * 1024 }] });
  });
  test("QEMU that cannot be executed", async () => {
    world.processes.fails = new Error("spawn ENOENT");
    await blocked("QemuNotFound");
    world.processes.fails = undefined;
    await world.run();
  });
});

describe("a running machine", () => {
  test("is never restarted because of another order: the difference is drift", async () => {
    await world.run();
    await world.ensure({ memory: { mib: 2048 }, cpus: 4 });
    expect((await world.status()).drift).toEqual(["-m", "-smp"]);
    await world.ensure();
    expect((await world.status()).drift).toEqual([]);
    expect(world.processes.started).toHaveLength(1);
  });

  test("gets the order that drifted when it starts again", async () => {
    await world.run();
    await world.ensure({ cpus: 4 });
    world.processes.last.exit(1);
    await world.phase("restarting");
    await world.clock.advance(1000);
    await world.phase("running");
    expect(world.processes.last.option("-smp")).toContain("cpus=4");
    expect((await world.status()).drift).toEqual([]);
  });

  test("grows its disks, and never shrinks them", async () => {
    await world.run();
    world.processes.last.setDisk("disk0", 20 * GIB);
    world.processes.last.setDisk("disk1", GIB);
    const disks = (root: number) => ({
      disks: [
        { name: "root", bytes: root * GIB },
        { name: "containerfs", bytes: GIB },
      ],
    });
    await world.ensure(disks(25));
    expect(world.processes.last.disk("disk0")).toBe(25 * GIB);
    expect((await world.status()).disks[0]).toEqual({ name: "root", bytes: 25 * GIB });
    await world.ensure(disks(10));
    expect(await world.status()).toMatchObject({ reason: "DiskRefused" });
    expect(world.processes.last.disk("disk0")).toBe(25 * GIB);
  });

  test("shows when the agent listens, and when a disk failed", async () => {
    await world.run();
    world.processes.last.event("VSERPORT_CHANGE", { id: "agent", open: true });
    await world.until(async () => (await world.status()).agentConnected);
    world.processes.last.event("BLOCK_IO_ERROR", {
      "node-name": "disk0",
      operation: "write",
      nospace: true,
      reason: "full",
    });
    await world.until(async () => (await world.status()).reason === "NoSpace");
    world.processes.last.event("RESUME");
    await world.until(async () => (await world.status()).reason === "Running");
  });

  test("shows the end of its console", async () => {
    await world.run();
    await writeFile(join(await folder(), "run/console.log"), "Booting\nLogin:");
    expect(await world.runner.console(ID, 6)).toBe("Login:");
  });

  test("is reset on request", async () => {
    await world.run();
    await world.runner.reset(ID);
    expect(world.processes.last.commands.slice(-2)).toEqual(["system_reset", "cont"]);
    await expect(world.runner.reset("default/none")).rejects.toThrow("there is no machine");
  });
});

describe("a kernel panic", () => {
  test("resets the machine once, and the second one is a fault", async () => {
    await world.run();
    const qemu = world.processes.last;
    qemu.status = "guest-panicked";
    qemu.event("GUEST_PANICKED", { action: "pause" });
    await world.until(() => qemu.commands.includes("cont"));
    expect(qemu.commands.filter((name) => name === "system_reset")).toHaveLength(1);
    await world.phase("running");
    qemu.event("GUEST_PANICKED", { action: "pause" });
    expect(await world.phase("failed")).toMatchObject({ reason: "GuestPanicked" });
    expect(qemu.commands.filter((name) => name === "system_reset")).toHaveLength(1);
    await world.restartManager();
    expect(await world.status()).toMatchObject({ phase: "failed", reason: "GuestPanicked" });
  });
});

describe("is deleted", () => {
  test("with its process and all its files, and again without an error", async () => {
    await world.run();
    const { last } = world.processes;
    await world.runner.destroy(ID);
    expect(last.running).toBe(false);
    expect(await readdir(join(world.folder, "vms"))).toEqual([]);
    expect(await world.runner.status(ID)).toBeUndefined();
    await world.runner.destroy(ID);
  });

  test("although an earlier manager was killed after it had deleted the record", async () => {
    await world.run();
    const left = await folder();
    await world.runner.close();
    world.processes.last.exit(0);
    await rm(join(left, "machine.json"));
    await world.restartManager();
    await world.runner.destroy(ID);
    expect(await readdir(join(world.folder, "vms"))).toEqual([]);
  });

  test("and another one of its name never gets its disks, even if the record was deleted alone", async () => {
    await world.run();
    const left = await folder();
    await world.runner.close();
    world.processes.last.exit(0);
    await rm(join(left, "machine.json"));
    await writeFile(join(left, "data-of-before"), "secret");
    await world.restartManager();
    await world.run();
    expect(await readdir(await folder())).not.toContain("data-of-before");
  });

  test("by a manager that has not started it", async () => {
    await world.run();
    const { last } = world.processes;
    await world.restartManager();
    await world.runner.destroy(ID);
    expect(last.running).toBe(false);
  });
});
