import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { busyboxReference, Lab, leftovers, type Node, sweep, timed } from "./harness/index.ts";

const overcommit = (): string => readFileSync("/proc/sys/vm/overcommit_memory", "utf8");

let lab: Lab;
let node: Node;
let settingBefore: string;

beforeAll(async () => {
  settingBefore = overcommit();
  lab = await Lab.open();
  node = lab.addNode("one");
});
afterAll(() => lab?.close());

test("a node boots with systemd as its first process, its own name and address", async () => {
  node.writeFile("etc/marker", "written before the first boot\n");
  await timed("boot", () => node.start());
  expect(await node.must(["cat", "/proc/1/comm"])).toBe("systemd\n");
  expect(await node.must(["systemctl", "is-system-running"])).toBe("running\n");
  expect(await node.must(["hostname"])).toBe("one\n");
  expect(await node.must(["ip", "-4", "-o", "addr", "show", "eth0"])).toContain(`${node.address}/24`);
  expect(await node.must(["cat", "/etc/marker"])).toBe("written before the first boot\n");
  expect(await node.must(["systemctl", "is-active", "containerd"])).toBe("active\n");
});

test("the machine and the node reach each other", async () => {
  await node.must(["ping", "-c", "1", "-W", "2", lab.gateway]);
});

test("commands in a node keep their input, output and exit code", async () => {
  const result = await node.exec(["sh", "-c", "cat; echo oops >&2; exit 3"], { input: "hello" });
  expect(result).toEqual({ code: 3, stdout: "hello", stderr: "oops\n" });
});

test("a command that takes too long is killed with everything it has started", async () => {
  const started = await node.exec(["sh", "-c", "sleep 123456 & echo $!; wait"], { timeout: 300 });
  expect(started.code).toBe(137);
  expect(started.stderr).toContain("killed after 300 ms");
  const running = await node.exec(["pgrep", "-f", "sleep 123456"]);
  expect(running.stdout).toBe("");
});

test("an imported image runs a container", async () => {
  await timed("image import", () => node.importImages([lab.images.busybox]));
  expect(await node.must(["ctr", "-n", "k8s.io", "images", "ls", "-q"])).toContain(busyboxReference);
  const run = [
    "ctr",
    "-n",
    "k8s.io",
    "run",
    "--rm",
    busyboxReference,
    "probe",
    "/bin/sh",
    "-c",
    "echo from $(uname -s)",
  ];
  expect(await node.must(run)).toBe("from Linux\n");
});

test("a power cycle keeps the disk and the identity", async () => {
  const identity = await node.must(["cat", "/etc/machine-id"]);
  await node.must(["sh", "-c", "echo kept > /root/note; sync"]);
  await timed("power off", () => node.powerOff());
  await expect(node.exec(["true"])).rejects.toThrow("one is off");
  await timed("second boot", () => node.start());
  expect(await node.must(["cat", "/root/note"])).toBe("kept\n");
  expect(await node.must(["cat", "/etc/machine-id"])).toBe(identity);
  expect(await node.must(["ctr", "-n", "k8s.io", "images", "ls", "-q"])).toContain(busyboxReference);
});

test("what an aborted run left is removed, even if its nodes still run, and nothing else is", async () => {
  const aborted = await Lab.open();
  await aborted.startNode("orphan");
  const file = join(aborted.dir, "run.json");
  const { pid: deadPid } = spawnSync("true");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), pid: deadPid }));
  expect(await leftovers(aborted.id)).not.toEqual([]);
  await sweep();
  expect(await leftovers(aborted.id)).toEqual([]);
  await node.must(["true"]);
});

test("a second lab next to it does not collide, and nothing of either is left behind", async () => {
  const other = await Lab.open();
  expect(other.gateway).not.toBe(lab.gateway);
  await other.startNode("one");
  expect(await leftovers(other.id)).not.toEqual([]);
  await other.close();
  expect(await leftovers(other.id)).toEqual([]);

  await node.must(["true"]);
  await lab.close();
  expect(await leftovers(lab.id)).toEqual([]);
  expect(overcommit()).toBe(settingBefore);
});
