import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { DialGate } from "@capstan/apimachinery/foreign";
import { PortAllocator } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FakeWorkloads } from "../../testing/fake-workloads.ts";
import type { Reservation } from "../placement.ts";
import { keptAddress } from "./listening.ts";
import { ProcessPlacement } from "./process.ts";

const owner = "tenant/c1";
let root: string;
let other: Server;
let port: number;
let gate: DialGate;
let workloads: FakeWorkloads;

/** Another program of this machine, which only its own users may reach. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-listening-"));
  other = createServer();
  await new Promise<void>((resolve) => other.listen({ host: "127.0.0.1", port: 0 }, resolve));
  port = (other.address() as AddressInfo).port;
  gate = new DialGate({ allow: [], ownAddresses: () => [], resolve: async () => [] });
  workloads = new FakeWorkloads(root);
  workloads.fate = () => ({ pid: 4711 });
});

afterEach(async () => {
  await new Promise((resolve) => other.close(resolve));
  await rm(root, { recursive: true, force: true });
});

const reserve = (bindAddress?: string, host = "127.0.0.2"): Promise<Reservation> =>
  new ProcessPlacement({
    root,
    workloads,
    ports: new PortAllocator(root),
    binaries: { find: async (version) => ({ dir: `/programs/${version}` }) },
    defaultAddress: "127.0.0.1",
    gate,
    clock: new VirtualClock(),
    random: seededRandom(1),
  }).reserve({
    owner,
    spec: { version: "v1.34.4", ...(bindAddress === undefined ? {} : { expose: { bindAddress } }) },
    endpoint: { host, port },
  });

test.each(["127.0.0.1", "0.0.0.0", "::"])(
  "a running control plane gives no access to another program by moving to %s",
  async (host) => {
    expect(await reserve("127.0.0.2")).toMatchObject({ type: "reserved" });
    await workloads.ensure({ id: { owner, name: "kube-apiserver" }, command: "/bin/kube-apiserver", args: [] });
    expect(await reserve(host)).toMatchObject({ type: "failed", reason: "PortTaken" });
    expect(() => gate.guard({ host: "127.0.0.1", port })).toThrow("a loopback address");
    expect(() => gate.guard({ host: "127.0.0.2", port })).not.toThrow();
  },
);

test("a running control plane can move to a free address", async () => {
  await reserve("127.0.0.2");
  await workloads.ensure({ id: { owner, name: "kube-apiserver" }, command: "/bin/kube-apiserver", args: [] });
  expect(await reserve("127.0.0.3")).toMatchObject({ type: "reserved" });
  expect(() => gate.guard({ host: "127.0.0.3", port })).not.toThrow();
});

test("the next manager knows the address", async () => {
  await reserve("127.0.0.2");
  expect(await keptAddress(root, owner)).toEqual({ host: "127.0.0.2", port });
  expect(await keptAddress(root, "tenant/none")).toBeUndefined();
});

test("an endpoint with a host name gives no access to other programs", async () => {
  await new Promise((resolve) => other.close(resolve));
  await new Promise<void>((resolve) => other.listen({ host: "127.0.0.3", port }, resolve));
  await reserve(undefined, "localhost");
  expect(() => gate.guard({ host: "127.0.0.3", port })).toThrow("a loopback address");
});
