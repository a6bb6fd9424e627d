import { afterEach, describe, expect, test } from "vitest";
import { KVMCluster } from "../kinds/kvm-cluster.ts";
import { KVMMachine } from "../kinds/kvm-machine.ts";
import { IMAGE, KvmWorld } from "../testing/world.ts";

let world: KvmWorld;
afterEach(() => world.close());

const ID = "default/m1";
const key = { namespace: "default", name: "m1" };

describe("a machine", () => {
  test("is started with its bootstrap data unchanged, and shows what runs", async () => {
    world = await KvmWorld.start();
    await world.createMachine("m1");
    await world.pass(10);
    expect(await world.machine("m1")).toMatchObject({
      spec: { providerID: "kvm://default/m1" },
      status: {
        placement: "Process",
        machineState: "running",
        nodeIndex: 1,
        vm: { pid: 42, accelerator: "tcg", restarts: 0 },
        disks: [{ name: "rootfs", size: "40Gi" }],
        addresses: [
          { type: "InternalIP", address: "192.168.126.1" },
          { type: "Hostname", address: "m1" },
        ],
        initialization: { provisioned: true },
      },
    });
    for (const type of ["Ready", "VMRunning", "GuestAgentConnected", "InSync"])
      expect(await world.condition("m1", type)).toMatchObject({ status: "True" });
    expect(world.runner.seeds.get(ID)).toMatchObject({
      type: "noCloud",
      data: { userData: world.workload.cloudConfig },
    });
  });

  test("gets the lowest number that is free, and keeps it", async () => {
    world = await KvmWorld.start();
    for (const name of ["m1", "m2", "m3"]) await world.createMachine(name);
    await world.pass(10);
    await world.client.delete({ kind: KVMMachine, namespace: "default", name: "m2" });
    await world.pass(10);
    await world.createMachine("m4");
    await world.pass(10);
    const cluster = await world.client.get(KVMCluster, { namespace: "default", name: "c1" });
    expect(cluster?.status?.nodeIndexes).toEqual({ m1: 1, m3: 3, m4: 2 });
    expect((await world.machine("m4")).status?.nodeIndex).toBe(2);
  });

  test("is shut down before it is deleted with its disks", async () => {
    world = await KvmWorld.start();
    await world.createMachine("m1");
    await world.pass(10);
    await world.client.delete({ kind: KVMMachine, ...key });
    await world.pass(1);
    expect(await world.machine("m1")).toMatchObject({ status: { machineState: "shutting-down" } });
    expect(await world.condition("m1", "Deleting")).toMatchObject({ reason: "ShuttingDown" });
    expect(world.runner.machines.size).toBe(1);
    await world.pass(5);
    expect(world.runner.machines.size).toBe(0);
    expect(await world.client.get(KVMMachine, key)).toBeUndefined();
  });

  test("that its host has lost is not made again, because its token is spent", async () => {
    world = await KvmWorld.start();
    await world.createMachine("m1");
    await world.pass(10);
    await world.runner.destroy(ID);
    await world.client.patch({ kind: KVMMachine, ...key }, { metadata: { annotations: { look: "again" } } });
    await world.pass(2);
    expect(await world.condition("m1", "Ready")).toMatchObject({
      reason: "VMLost",
      message: expect.stringContaining("delete the Machine"),
    });
    expect(world.runner.machines.size).toBe(0);
  });

  test("whose arguments differ from the running ones reports drift", async () => {
    world = await KvmWorld.start();
    await world.createMachine("m1");
    await world.pass(10);
    world.runner.set(ID, { drift: ["-m", "-smp"] });
    await world.pass(1);
    expect(await world.condition("m1", "InSync")).toMatchObject({ status: "False", reason: "Drifted" });
    expect(await world.condition("m1", "Ready")).toMatchObject({ status: "True" });
  });
});

describe("a problem becomes a condition with its next step:", () => {
  const cases = [
    ["failed", "CrashLoop", "Read the end of its console"],
    ["failed", "GuestPanicked", "have it replaced"],
    ["terminated", "Terminated", "Delete the Machine"],
    ["preparing", "ImageChecksumMismatch", "Correct the checksum"],
    ["preparing", "ImageRefused", "operator of the host allows"],
    ["preparing", "ImageNotFound", "Correct the location"],
    ["preparing", "ImageInvalid", "format"],
    ["preparing", "PathRefused", "operator of the host allows"],
    ["preparing", "KVMNotAvailable", "TCG"],
    ["preparing", "QemuNotFound", "Install QEMU"],
    ["preparing", "QemuTooOld", "newer QEMU"],
    ["preparing", "SpecInvalid", "Correct the template"],
    ["preparing", "NoSpace", "what happened"],
    ["preparing", "ImageUnreachable", "what happened"],
    ["preparing", "ImageDownloading", "what happened"],
    ["restarting", "QemuExited", "what happened"],
    ["running", "VMPaused", "what happened"],
    ["running", "DiskError", "what happened"],
    ["running", "QMPNotAvailable", "what happened"],
  ] as const;

  test("of each kind", async () => {
    world = await KvmWorld.start();
    await world.createMachine("m1");
    await world.pass(10);
    for (const [phase, reason, text] of cases) {
      world.runner.set(ID, { phase, reason, message: "what happened" });
      await world.pass(1);
      const ready = await world.condition("m1", "Ready");
      expect(ready).toMatchObject({ status: "False", reason });
      expect(ready?.message).toContain(text);
      expect(await world.condition("m1", "VMRunning")).toMatchObject({ status: "False", reason });
    }
    world.runner.set(ID, { phase: "running", reason: "Running" });
    await world.pass(1);
    expect(await world.condition("m1", "Ready")).toMatchObject({ status: "True" });
  });

  test("no room on the host, until another machine is deleted", async () => {
    world = await KvmWorld.start({}, 12 * 1024);
    await world.createMachine("m1");
    await world.pass(10);
    await world.createMachine("m2");
    await world.pass(10);
    expect(await world.condition("m2", "Ready")).toMatchObject({
      reason: "InsufficientCapacity",
      message: expect.stringContaining("4096 of 12288 MiB"),
    });
    await world.client.delete({ kind: KVMMachine, ...key });
    await world.pass(60);
    expect(await world.condition("m2", "Ready")).toMatchObject({ status: "True" });
  });

  test("a host whose operator does not open the network", async () => {
    world = await KvmWorld.start({ openUserNetwork: false });
    await world.createMachine("m1");
    await world.pass(5);
    expect(await world.condition("m1", "Ready")).toMatchObject({
      reason: "UserNetworkClosed",
      message: expect.stringContaining("Set openUserNetwork"),
    });
    expect(world.runner.machines.size).toBe(0);
  });

  test("bootstrap data that cannot be delivered", async () => {
    world = await KvmWorld.start();
    await world.createMachine("m1", { image: IMAGE, delivery: "FwCfg" });
    await world.pass(5);
    expect(await world.condition("m1", "Ready")).toMatchObject({ reason: "BootstrapDataNotSupported" });
  });
});

describe("refuses", () => {
  const change = (spec: object): Promise<unknown> => world.client.patch({ kind: KVMMachine, ...key }, { spec });

  test("changes of a machine's size, except disks that grow", async () => {
    world = await KvmWorld.start();
    await world.createMachine("m1", {
      image: IMAGE,
      resources: { cpu: 2, memory: "4Gi", disk: "20Gi" },
      additionalDisks: [{ name: "data", size: "1Gi" }],
    });
    await world.pass(10);
    await expect(change({ resources: { cpu: 4 } })).rejects.toThrow("cannot change while the machine exists");
    await expect(change({ resources: { memory: "8Gi" } })).rejects.toThrow("spec.resources.memory");
    await expect(change({ resources: { disk: "10Gi" } })).rejects.toThrow("cannot shrink");
    await expect(change({ resources: { dockerVolumeSize: "10Gi" } })).rejects.toThrow("cannot be set or removed");
    await expect(change({ additionalDisks: [] })).rejects.toThrow("cannot be added or removed");
    await expect(change({ image: { ...IMAGE, format: "raw" } })).rejects.toThrow("immutable");
    await change({ resources: { disk: "25Gi" }, additionalDisks: [{ name: "data", size: "2Gi" }] });
    await world.pass(1);
    expect(world.runner.machines.get("default/m1")?.order.disks).toEqual([
      { name: "rootfs", bytes: 25 * 2 ** 30 },
      { name: "data", bytes: 2 * 2 ** 30 },
    ]);
  });

  test.each<[string, object]>([
    ["an image without a checksum", { image: { url: IMAGE.url } }],
    ["an image with two locations", { image: { ...IMAGE, file: "/images/a" } }],
    ["an image of another scheme", { image: { ...IMAGE, url: "file:///etc/passwd" } }],
    ["a size that is none", { image: IMAGE, resources: { memory: "8 GB" } }],
    ["a mount tag of 32 characters", { image: IMAGE, hostVolumes: [{ mountTag: "t".repeat(32), hostPath: "/a" }] }],
    ["a relative host path", { image: IMAGE, hostVolumes: [{ mountTag: "t", hostPath: "a" }] }],
  ])("%s", async (_what, spec) => {
    world = await KvmWorld.start();
    await expect(world.createMachine("m1", spec)).rejects.toThrow("is invalid");
  });
});
