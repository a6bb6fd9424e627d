import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { formatTime, seededRandom, systemClock } from "@capstan/apimachinery";
import { Cluster, KubeadmConfig, KubeadmControlPlane, Machine } from "@capstan/capi";
import type { ByoHost } from "@capstan/host-agent";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { httpTransport, kindRef } from "@capstan/runtime";
import { afterEach, describe, expect, test } from "vitest";
import { TestMachine, TestMachineTemplate } from "../../core/src/testing/test-infrastructure.ts";
import { bootstrapFailure } from "../../infra-byoh/src/machine/bootstrap-failure.ts";
import { chooseHost } from "../../infra-byoh/src/machine/choose-host.ts";
import { causesOf } from "./testing/why.ts";
import { World, type WorldExtras } from "./testing/world.ts";

const MINUTE_MS = 60_000;
const NODES = kindRef({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });
const NAMESPACES = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });
let world: World;

async function start(extras: WorldExtras = {}): Promise<void> {
  world = await World.start(extras);
}
afterEach(() => world.close());

async function writesIn(minutes: number): Promise<number> {
  const before = world.plane.requests.length;
  await world.plane.settle(minutes * MINUTE_MS);
  return world.plane.requests.length - before;
}

/** What BYOH's choice of a host says, for a machine of v1.36.2. */
function reasonOf(hosts: readonly object[], nowMs: number): string {
  const all = hosts as readonly ByoHost[];
  const wanted = { kubelet: { version: "v1.36.2", match: "minor" } } as const;
  const choice = chooseHost({ free: all, all: () => all }, wanted, nowMs);
  if (!("reason" in choice)) throw new Error("a host was chosen");
  return choice.reason;
}

const hostWith = (nowMs: number, kubeletVersion: string): object => ({
  metadata: { namespace: "default", name: "own-1" },
  spec: {},
  status: {
    lastHeartbeatTime: formatTime(nowMs),
    hostinfo: { kubeletVersion },
    conditions: [
      { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: formatTime(nowMs) },
    ],
  },
});

/** A control plane whose first Machine cannot have infrastructure, and what its infrastructure reports. */
async function withoutHost(reason: string, message: string): Promise<Machine> {
  await world.addCluster();
  await world.user.patch(
    { kind: TestMachineTemplate, namespace: "default", name: "t1" },
    { spec: { template: { spec: { never: true } } } },
  );
  await world.addPlane({ replicas: 3 });
  await world.until(async () => (await world.list(TestMachine)).length === 1, "the first machine");
  const [infra] = await world.list(TestMachine);
  const [machine] = await world.machines();
  if (infra === undefined || machine === undefined) throw new Error("no machine");
  const lastTransitionTime = formatTime(world.plane.clock.now());
  const conditions = [{ type: "Ready", status: "False", reason, message, lastTransitionTime }];
  await world.user.patchStatus(infra, { status: { conditions } });
  return machine;
}

describe.each([
  [
    "no free host at creation",
    (): string => reasonOf([], 0),
    /there are no hosts: enrol one with: capstan host add NAME/,
  ],
  [
    "the wrong kubelet on the only host",
    (): string => reasonOf([hostWith(MINUTE_MS, "v1.35.4")], MINUTE_MS),
    /own-1 has kubelet v1\.35\.4, but v1\.36 is needed; set installerRef/,
  ],
])("%s", (_, reason, expected) => {
  test("is in the conditions with the cure, costs one Machine and no writes, and ends when a host is there", async () => {
    await start();
    const message = reason();
    expect(message).toMatch(expected);
    const machine = await withoutHost("InsufficientCapacity", message);
    await world.until(async () => expected.test(await world.condition("MachinesReady")), "the reason");
    expect(await world.condition("Available")).toMatch(/^False NotAvailable/);
    expect(await writesIn(60)).toBeLessThan(10);
    expect(await world.condition("Progressing")).toMatch(
      new RegExp(`^False ProgressDeadlineExceeded: .*Machine ${machine.metadata.name}.*see: capstan why c1`),
    );
    expect((await world.machines()).map(({ metadata }) => metadata.uid)).toEqual([machine.metadata.uid]);
    await world.user.patch(
      { kind: TestMachineTemplate, namespace: "default", name: "t1" },
      { spec: { template: { spec: { never: null } } } },
    );
    for (const infra of await world.list(TestMachine)) {
      await world.user.patchStatus(infra, { status: { conditions: null } });
      await world.user.patch(infra, { spec: { never: null } });
    }
    await world.ready(3);
  });
});

/** What a ByoMachine reports when kubeadm fails on a host whose clock BYOH has found to be behind. */
function behind(nowMs: number): string {
  const { conditions, ...status } = (hostWith(nowMs, "v1.36.2") as ByoHost).status ?? {};
  const message =
    "the host's clock is 2h0m0s behind: certificates and tokens fail because of this; set up NTP on the host";
  const lastTransitionTime = formatTime(nowMs);
  const skew = { type: "ClockInSync", status: "False", reason: "ClockSkew", message, lastTransitionTime };
  const bootstrap = { machineUID: "u1", phase: "Failed", message: "kubeadm init: x509: certificate is not yet valid" };
  const host = {
    ...hostWith(nowMs, "v1.36.2"),
    status: { ...status, bootstrap, conditions: [...(conditions ?? []), skew] },
  };
  return bootstrapFailure(host as ByoHost, "the agent cleans up and retries, its log");
}

test("a host whose clock is not in sync: the control plane names the clock and the cure, and costs one Machine", async () => {
  await start();
  const machine = await withoutHost("BootstrapFailed", behind(MINUTE_MS));
  const expected = /own-1: the host's clock is 2h0m0s behind: .*; set up NTP on the host; .*capstan host logs own-1/;
  await world.until(async () => expected.test(await world.condition("MachinesReady")), "the clock");
  expect(await world.condition("Available")).toMatch(/^False NotAvailable/);
  expect(await writesIn(60)).toBeLessThan(10);
  expect(JSON.stringify(await causesOf(world))).toContain("set up NTP on the host");
  expect((await world.machines()).map(({ metadata }) => metadata.uid)).toEqual([machine.metadata.uid]);
});

/** What a connection says that trusts one authority, and meets a server of another one with the same name. */
async function foreignAnswer(): Promise<string> {
  const nowMs = systemClock.now();
  const times = { nowMs, notBeforeMs: nowMs - MINUTE_MS, validMs: 3_600_000 };
  const authority = (seed: number) =>
    createCertificateAuthority({
      ...times,
      commonName: "kubernetes",
      algorithm: "ECDSA-P256",
      random: seededRandom(seed),
    });
  const [ours, theirs] = [await authority(1), await authority(2)];
  const { certPem, keyPem } = await issueCertificate(theirs, {
    ...times,
    commonName: "kube-apiserver",
    dnsNames: ["cp-of-another-cluster"],
    ipAddresses: ["127.0.0.1"],
    usages: ["server"],
    random: seededRandom(3),
  });
  const server = createServer({ cert: certPem, key: keyPem }, (_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const config = { server: `https://127.0.0.1:${port}`, tls: { caPem: ours.certPem } };
  const transport = httpTransport(config, { clock: systemClock });
  try {
    await transport.request({ method: "GET", path: "/readyz" });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await transport.close();
    server.close();
  }
  throw new Error("the certificate was trusted");
}

test("an endpoint that belongs to another cluster: the condition says whose certificate came, and no Machine is replaced", async () => {
  await start();
  world.side.mute = await foreignAnswer();
  await world.addCluster();
  await world.addPlane({ replicas: 3 });
  await world.until(async () => (await world.condition("Available")).includes("cannot be reached"));
  expect(await world.condition("Available")).toMatch(
    /Machine c1-\w+ is provisioned, but the API does not answer at 10\.0\.0\.9:6443 \(https:\/\/127\.0\.0\.1:\d+ cannot be reached: .*; its certificate is that of CN=kube-apiserver \(cp-of-another-cluster, 127\.0\.0\.1\), issued by CN=kubernetes\)\. Another server answers there: remove 10\.0\.0\.9:6443 from it, or let the load balancer forward it to this Machine; for the next step, run: capstan why c1 -n default$/,
  );
  expect(await writesIn(60)).toBeLessThan(5);
  expect(await world.machines()).toHaveLength(1);
  world.side.mute = false;
  await world.ready(3);
});

test("a Node that is deleted under a running control plane: its Machine says so, and neither it nor its member is removed", async () => {
  await start();
  const workload = await world.addCluster();
  await world.addPlane({ replicas: 3 });
  await world.ready(3);
  const before = (await world.machines()).map(({ metadata }) => metadata.uid);
  const [machine] = await world.machines();
  await workload.delete({ kind: NODES, name: machine?.status?.nodeRef?.name ?? "" });
  const said = async (): Promise<string> => JSON.stringify((await world.machines())[0]?.status?.conditions);
  await world.until(async () => (await said()).includes("NodeDeleted"), "the Machine's condition");
  await world.plane.settle(10 * MINUTE_MS);
  expect((await world.machines()).map(({ metadata }) => metadata.uid)).toEqual(before);
  expect(world.side.members).toHaveLength(3);
  expect(world.side.calls.filter((call) => call.startsWith("remove"))).toEqual([]);
  expect(await writesIn(60)).toBeLessThan(5);
});

/** What the controllers do when the namespace goes. */
interface Story {
  readonly replicas: number;
  act(): Promise<unknown>;
  /** Whether it is over. */
  done(): Promise<boolean>;
}

const allReady = async (): Promise<boolean> => {
  const { spec, status } = await world.get();
  return status?.readyReplicas === spec.replicas && status?.upToDateReplicas === spec.replicas;
};

describe("a namespace that is deleted after any write leaves nothing, gets nothing new, and keeps no controller busy", () => {
  test.each<[string, number, Story]>([
    [
      "while the control plane is created",
      4,
      { replicas: 0, act: () => world.addPlane({ replicas: 3 }), done: allReady },
    ],
    [
      "in a rollout",
      4,
      {
        replicas: 1,
        act: () => world.patch({ version: "v1.37.0" }),
        done: async () =>
          (await world.machines()).every(({ spec }) => spec.version === "v1.37.0") && (await allReady()),
      },
    ],
    [
      "in a remediation",
      3,
      {
        replicas: 3,
        act: async () => {
          const [failed] = await world.machines();
          if (failed !== undefined) await world.failHealthCheck(failed);
        },
        done: allReady,
      },
    ],
  ])(
    "%s",
    async (_, step, story) => {
      let moments = 0;
      for (let writes = 1; await deletedAfter(writes, story); writes += step) moments++;
      expect(moments).toBeGreaterThan(3);
    },
    600_000,
  );
});

/** Deletes the namespace when the controllers have written so often; false if the story was over before. */
async function deletedAfter(writes: number, { replicas, act, done }: Story): Promise<boolean> {
  await start({ namespace: "team" });
  await world.addCluster();
  if (replicas > 0) {
    await world.addPlane({ replicas });
    await world.ready(replicas);
  }
  const { plane } = world;
  await plane.stopControllers();
  await plane.startControllers(writes);
  await act();
  for (let turn = 0; turn < 300 && !plane.died && (turn < 5 || !(await done())); turn++) await world.turn(2_000);
  const { died } = plane;
  await world.user.delete({ kind: NAMESPACES, name: "team" });
  // Whether they died or not: those that live on would die in the middle of the deletion, and nobody would start them again.
  await plane.stopControllers();
  await plane.startControllers();
  const namespace = (): Promise<unknown> => world.user.get(NAMESPACES, { name: "team" });
  for (let turn = 0; turn < 300 && (await namespace()) !== undefined; turn++) await world.turn(2_000);
  expect(await namespace(), `deleted after write ${writes}`).toBeUndefined();
  for (const kind of [Cluster, KubeadmControlPlane, KubeadmConfig, Machine, TestMachine])
    expect((await world.user.list(kind as typeof Machine)).items).toEqual([]);
  await plane.settle(MINUTE_MS);
  expect(await writesIn(30)).toBe(0);
  await world.close();
  return died;
}
