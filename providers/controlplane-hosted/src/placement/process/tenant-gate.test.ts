import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { PortAllocator } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeWorkloads } from "../../testing/fake-workloads.ts";
import type { Reservation } from "../placement.ts";
import { ProcessPlacement } from "./process.ts";

let root: string;
let placement: ProcessPlacement;
const spec = { version: "v1.34.4" };
const NOT_ROOT = { oneTenant: "the manager does not run as root" };

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-tenants-"));
  start(NOT_ROOT);
});
afterEach(() => rm(root, { recursive: true, force: true }));

function start(options: { oneTenant?: string }): void {
  placement = new ProcessPlacement({
    root,
    workloads: new FakeWorkloads(root),
    ports: new PortAllocator(root),
    binaries: { find: async (version) => ({ dir: `/programs/${version}` }) },
    defaultAddress: "127.0.0.1",
    clock: new VirtualClock(),
    random: seededRandom(1),
    ...options,
  });
}

const reserve = (owner: string): Promise<Reservation> => placement.reserve({ owner, spec, endpoint: undefined });

/** Creates what a started control plane leaves on disk. */
async function started(owner: string): Promise<void> {
  await mkdir(join(root, owner), { recursive: true });
  await writeFile(join(root, owner, "plane.json"), "{}");
}

test("a manager that cannot isolate processes hosts one namespace and rejects a second one, with what to do", async () => {
  expect(await reserve("team-a/one")).toMatchObject({ type: "reserved" });
  expect(await reserve("team-a/two")).toMatchObject({ type: "reserved" });
  expect(await reserve("team-b/one")).toEqual({
    type: "failed",
    reason: "TenantsNotIsolated",
    message: expect.stringMatching(
      /^the manager does not run as root, so .* team-a\/one .* `capstan up --trust-tenants`/,
    ),
  });
});

test("knows the namespace after a restart, and admits one of two concurrent control planes", async () => {
  await started("team-a/one");
  start(NOT_ROOT);
  expect(await reserve("team-b/one")).toMatchObject({ reason: "TenantsNotIsolated" });
  await rm(join(root, "team-a"), { recursive: true });
  const both = await Promise.all([reserve("team-b/one"), reserve("team-c/one")]);
  expect(both.map(({ type }) => type).toSorted()).toEqual(["failed", "reserved"]);
});

test("another namespace may have a control plane once the last one of a namespace is deleted", async () => {
  await reserve("team-a/one");
  await placement.remove("team-a/one", { spec });
  expect(await reserve("team-b/one")).toMatchObject({ type: "reserved" });
});

test("accepts existing control planes, and does not count shared etcds as tenants", async () => {
  for (const owner of ["team-a/one", "team-b/one", "shared_etcd/store"]) await started(owner);
  start(NOT_ROOT);
  expect(await reserve("team-a/one")).toMatchObject({ type: "reserved" });
  expect(await reserve("team-b/one")).toMatchObject({ type: "reserved" });
  await rm(join(root, "team-b"), { recursive: true });
  start(NOT_ROOT);
  expect(await reserve("team-a/two")).toMatchObject({ type: "reserved" });
});

test("does not limit trusted or isolated tenants", async () => {
  start({});
  expect(await reserve("team-a/one")).toMatchObject({ type: "reserved" });
  expect(await reserve("team-b/one")).toMatchObject({ type: "reserved" });
});
