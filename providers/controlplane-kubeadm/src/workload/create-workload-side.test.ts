import type { Unstructured } from "@capstan/apimachinery";
import { kindRef } from "@capstan/runtime";
import { expect, test } from "vitest";
import { planControlPlane } from "../index.ts";
import type { ControlPlaneView } from "../plan/view.ts";
import { workloadWorld } from "../testing/workload-world.ts";

const NodeKind = kindRef({ group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false });

type World = Awaited<ReturnType<typeof workloadWorld>>;

/** Three healthy members on Nodes whose names are not those of their Machines. */
async function three(): Promise<World> {
  const world = await workloadWorld();
  for (const index of [1, 2, 3]) {
    world.addMachine(`cp-machine-${index}`, `host-${index}.example`, `10.0.0.${index}`);
    await world.addNode(`host-${index}.example`, `10.0.0.${index}`);
    world.etcd.add(`host-${index}.example`, `10.0.0.${index}`);
  }
  await world.clock.advance(10 * 60_000);
  return world;
}

const members = (observed: Awaited<ReturnType<World["observe"]>>) => {
  if ("unknown" in observed.members) throw new Error(observed.members.unknown);
  return observed.members;
};

test("reports healthy components and members of every Machine", async () => {
  const world = await three();
  const observed = await world.observe();
  expect(observed.unreachable).toBeUndefined();
  expect(observed.initialized).toBe(false);
  const values = [...observed.machines.values()].flatMap(({ components }) => Object.values(components));
  expect(new Set(values.map(({ status, reason }) => `${status} ${reason}`))).toEqual(
    new Set(["True Running", "True Healthy", "True Set"]),
  );
  expect(members(observed).map(({ nodeName, leader }) => `${nodeName} ${leader}`)).toEqual([
    "host-1.example true",
    "host-2.example false",
    "host-3.example false",
  ]);
  expect(observed.strayNodes).toEqual([]);
  expect(observed.recheckMs).toBe(60_000);
});

test("three replicas tolerate one failure", async () => {
  // Names of Nodes and Machines differ: members belong to Machines through nodeRef alone.
  const world = await three();
  world.etcd.broken.set("host-1.example", "etcd on Node host-1.example cannot be reached: both ways");
  await world.setPod("etcd", "host-1.example", { phase: "Running", conditions: [{ type: "Ready", status: "False" }] });
  const observed = await world.observe();
  expect(observed.machines.get("cp-machine-1")?.components.etcdMember).toMatchObject({
    status: "Unknown",
    reason: "InspectionFailed",
  });
  expect(observed.machines.get("cp-machine-2")?.components.etcdMember.status).toBe("True");
  const plan = planControlPlane(viewOf(world, observed, "cp-machine-1"));
  // The member is on the Machine's Node, so the failed Machine is replaced, its leadership moved first, and the others keep the quorum.
  expect(plan.step).toMatchObject({ type: "delete", machine: "cp-machine-1", why: "remediation" });
  expect(plan.step).toHaveProperty("moveLeaderTo.length", 2);
});

function viewOf(world: World, observed: Awaited<ReturnType<World["observe"]>>, failed: string): ControlPlaneView {
  return {
    nowMs: world.clock.now(),
    namespace: "default",
    replicas: 3,
    version: "v1.37.1",
    maxSurge: 1,
    initialized: true,
    etcdManaged: true,
    certificatesAvailable: true,
    machines: world.machines.map(({ metadata, status }) => {
      const name = metadata.name ?? "";
      const components = observed.machines.get(name)?.components;
      if (components === undefined) throw new Error(`${name} was not observed`);
      return {
        name,
        createdMs: 0,
        deletingSinceMs: undefined,
        failureDomain: undefined,
        nodeName: status?.nodeRef?.name,
        upToDate: true,
        healthCheck: name === failed ? "failed" : "passed",
        awaitsRemediation: name === failed,
        remediateAnnotation: false,
        deleteAnnotation: false,
        remediationFor: undefined,
        components,
        hooks: { ours: true, others: false, waiting: false },
      };
    }),
    members: observed.members,
    youngNodes: observed.youngNodes,
    failureDomains: [],
    topology: undefined,
    remediation: { maxRetry: undefined, retryPeriodMs: 0, minHealthyPeriodMs: 3_600_000, inProgress: undefined },
    deleting: false,
    workersLeft: [],
  };
}

test("matches a member with another name by its addresses", async () => {
  const world = await three();
  world.etcd.listed[1] = { ...world.etcd.listed[1], name: "custom" } as never;
  world.etcd.broken.set("host-2.example", "no answer");
  expect(members(await world.observe()).map(({ name, nodeName }) => `${name} ${nodeName}`)).toContain(
    "custom host-2.example",
  );
});

test("leaves a member without a Node unmatched, also if it never started", async () => {
  const world = await three();
  const id = world.etcd.add("gone", "10.0.0.9", "");
  const observed = members(await world.observe());
  expect(observed.find((member) => member.id === id)).toMatchObject({ name: "", nodeName: undefined });
});

test("asks etcd again only if something changed or a minute has passed", async () => {
  const world = await three();
  const changes: string[] = [];
  world.side.subscribe(({ name }) => changes.push(name));
  await world.observe();
  const { opened } = world.etcd;
  await world.clock.advance(30_000);
  await world.observe();
  expect(world.etcd.opened).toBe(opened);
  await world.clock.advance(30_000);
  await world.observe();
  expect(world.etcd.opened).toBe(opened + 3);
  changes.length = 0;
  await world.setPod("etcd", "host-1.example", { phase: "Running", conditions: [{ type: "Ready", status: "False" }] });
  await world.clock.advance(1000);
  expect(changes).toContain("c1");
  await world.observe();
  expect(world.etcd.opened).toBe(opened + 6);
});

test("asks etcd again within the minute when a fresh answer is requested", async () => {
  const world = await three();
  await world.observe();
  const { opened } = world.etcd;
  await world.clock.advance(5_000);
  await world.observe({ fresh: true });
  expect(world.etcd.opened).toBe(opened + 3);
});

test("reports members that list different members, and does not choose between them", async () => {
  const world = await three();
  world.etcd.lists.set("host-2.example", world.etcd.listed.slice(0, 2));
  const observed = await world.observe();
  expect(observed.members).toMatchObject({ unknown: expect.stringContaining("list different members") });
  expect(observed.recheckMs).toBe(10_000);
});

test("reports a member that belongs to another cluster", async () => {
  const world = await three();
  world.etcd.clusterIds.set("host-3.example", "666");
  const observed = await world.observe();
  expect(observed.machines.get("cp-machine-3")?.components.etcdMember).toMatchObject({
    status: "False",
    message: "The etcd member on Node host-3.example belongs to cluster 666, the other members to 77",
  });
  expect(members(observed)).toHaveLength(3);
});

test("reports learners and alarms", async () => {
  const world = await three();
  world.etcd.listed[2] = { ...world.etcd.listed[2], isLearner: true } as never;
  world.etcd.alarms = [{ memberId: "1000", alarm: "NOSPACE" }];
  const observed = await world.observe();
  const messages = [...observed.machines.values()].map(({ components }) => components.etcdMember.message);
  expect(messages).toEqual(["Etcd reports alarms: NOSPACE", "", "Waiting for learner etcd member to be promoted"]);
});

test("asks etcd also while the API does not answer, and reports ConnectionDown for its components", async () => {
  const world = await three();
  world.state.down = "no route to host";
  const observed = await world.observe();
  expect(observed.unreachable).toBe("no route to host");
  expect(observed.initialized).toBeUndefined();
  const components = observed.machines.get("cp-machine-1")?.components;
  expect(components?.apiServer).toMatchObject({ status: "Unknown", reason: "ConnectionDown" });
  expect(components?.etcdMember).toMatchObject({ status: "True", reason: "Healthy" });
  expect(members(observed)).toHaveLength(3);
});

test("a full disk under etcd: the pod and the member name the Node's disk pressure and the cure", async () => {
  const world = await three();
  const full = {
    type: "DiskPressure",
    status: "True",
    reason: "KubeletHasDiskPressure",
    message: "kubelet has disk pressure",
  };
  await world.client.patchStatus(
    { kind: NodeKind, name: "host-1.example" },
    { status: { conditions: [{ type: "Ready", status: "True" }, full] } },
  );
  // A Node that is nearly full changes nothing as long as etcd works.
  const fine = (await world.observe()).machines.get("cp-machine-1")?.components;
  expect([fine?.etcdPod.status, fine?.etcdMember.status]).toEqual(["True", "True"]);
  world.etcd.broken.set("host-1.example", "connect ECONNREFUSED");
  const terminated = { exitCode: 2, reason: "Error" };
  await world.setPod("etcd", "host-1.example", {
    phase: "Running",
    conditions: [{ type: "Ready", status: "False" }],
    containerStatuses: [
      { name: "etcd", state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated } },
    ],
  });
  await world.clock.advance(60_000);
  const observed = await world.observe({ fresh: true });
  const components = observed.machines.get("cp-machine-1")?.components;
  const cure =
    "Node host-1.example has DiskPressure (kubelet has disk pressure): free space on its disk, or delete the Machine to replace it";
  expect(components?.etcdPod).toMatchObject({ status: "False", message: `CrashLoopBackOff; ${cure}` });
  expect(components?.etcdMember).toMatchObject({
    status: "Unknown",
    message: `Failed to connect to etcd: connect ECONNREFUSED; ${cure}`,
  });
  expect(observed.machines.get("cp-machine-2")?.components.etcdMember.status).toBe("True");
});

test("a missing image: the component has the kubelet's message, which names it", async () => {
  const world = await three();
  const message = 'Back-off pulling image "registry.example/etcd:9.9": ErrImagePull: not found';
  await world.setPod("etcd", "host-1.example", {
    phase: "Pending",
    conditions: ["PodScheduled", "Initialized"].map((type) => ({ type, status: "True" })),
    containerStatuses: [{ name: "etcd", state: { waiting: { reason: "ImagePullBackOff", message } } }],
  });
  const observed = await world.observe();
  expect(observed.machines.get("cp-machine-1")?.components.etcdPod).toMatchObject({
    status: "False",
    reason: "Provisioning",
    message: `ImagePullBackOff: ${message}`,
  });
});

test("a Node that is deleted: its member still belongs to its Machine, and only what needs the Node is unknown", async () => {
  const world = await three();
  await world.client.delete({ kind: NodeKind, name: "host-1.example" });
  const observed = await world.observe({ fresh: true });
  const components = observed.machines.get("cp-machine-1")?.components;
  expect(components?.apiServer).toMatchObject({ status: "Unknown", message: "Node host-1.example does not exist" });
  expect(components?.etcdMember).toMatchObject({ status: "True" });
  expect(members(observed).map(({ nodeName }) => nodeName)).toContain("host-1.example");
  const plan = planControlPlane(viewOf(world, observed, "none of them"));
  expect(plan.step).not.toMatchObject({ type: "removeMember" });
});

test("works at the Machines while the endpoint is dead, and says that it is once a virtual IP had time to move", async () => {
  const world = await three();
  Object.assign(world.state, { down: "no route to host", downSinceMs: world.clock.now(), atMachines: true });
  const early = await world.observe();
  expect(early).toMatchObject({ unreachable: undefined, endpointDown: undefined, recheckMs: 10_000 });
  await world.clock.advance(10_000);
  const observed = await world.observe();
  expect(observed).toMatchObject({ unreachable: undefined, endpointDown: "no route to host" });
  expect(observed.machines.get("cp-machine-1")?.components.apiServer).toMatchObject({ status: "True" });
  await world.side.removeStrayNodes(world.target());
  world.state.down = undefined;
  expect((await world.observe()).endpointDown).toBeUndefined();
});

test("does not hold a reconcile for a silent member, and triggers the next one when its time is over", async () => {
  const world = await three();
  world.etcd.silent.add("host-2.example");
  const changes: string[] = [];
  world.side.subscribe(({ name }) => changes.push(name));
  const observing = world.observe();
  await world.clock.advance(3000);
  expect((await observing).members).toEqual({ unknown: "etcd has not answered yet" });
  changes.length = 0;
  // Whoever comes next does not wait at all.
  expect((await world.observe()).members).toEqual({ unknown: "etcd has not answered yet" });
  await world.clock.advance(12_000);
  expect(changes).toEqual(["c1"]);
  const observed = await world.observe();
  expect(members(observed)).toHaveLength(3);
  expect(observed.machines.get("cp-machine-2")?.components.etcdMember.message).toContain("did not answer within 15 s");
});

test("reports what a Machine without a Node waits for, and Machines in deletion", async () => {
  const world = await three();
  world.addMachine("new");
  const doomed = world.machines[0];
  if (doomed !== undefined) doomed.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  const observed = await world.observe();
  expect(observed.machines.get("new")?.components.apiServer.message).toBe(
    "Waiting for ByoMachine to report spec.providerID",
  );
  const components = observed.machines.get("cp-machine-1")?.components;
  expect(components?.apiServer).toMatchObject({ status: "False", reason: "Deleting" });
  expect(components?.etcdMember).toMatchObject({ status: "False", reason: "Deleting" });
  expect(components?.nodeLabels).toMatchObject({ status: "True", reason: "Set" });
});

test("removes a member through another one after it has handed over", async () => {
  const world = await three();
  await world.observe();
  await world.side.removeMember(world.target(), "1000", ["9999", "1002"]);
  expect(world.etcd.calls).toEqual(["host-1.example hands over to 1002", "host-2.example removes 1000"]);
  // It is not there any more.
  await world.side.removeMember(world.target(), "1000", []);
  expect(world.etcd.calls).toHaveLength(2);
  expect(members(await world.observe()).map(({ id }) => id)).toEqual(["1001", "1002"]);
});

test("only hand-overs count as changes of the leader that we requested", async () => {
  const world = await three();
  const changes = async (count: number): Promise<number> => {
    world.etcd.metrics = `etcd_server_leader_changes_seen_total ${count}\n`;
    await world.observe({ fresh: true });
    await world.clock.advance(1_000);
    await world.observe({ fresh: true });
    return world.side.etcdReports()[0]?.leaderChanges ?? -1;
  };
  await changes(1);
  // It does not lead, so nothing is handed over; the leader is one of those that may take over already.
  await world.side.moveLeader(world.target(), ["1000", "1001"]);
  await world.side.removeMember(world.target(), "1002", ["1000"]);
  await expect(world.side.moveLeader(world.target(), ["9999"])).rejects.toThrow("takes over");
  expect(await changes(5)).toBe(4);
  await world.side.moveLeader(world.target(), ["1001"]);
  expect(await changes(6)).toBe(4);
});

test("removes a leader that cannot be reached without waiting for its consent", async () => {
  const world = await three();
  world.etcd.broken.set("host-1.example", "the kubelet does not answer");
  await world.side.moveLeader(world.target(), ["1001"]);
  await world.side.removeMember(world.target(), "1000", ["1001"]);
  expect(world.etcd.calls).toEqual(["host-2.example removes 1000"]);
});

test("never removes the last member", async () => {
  const world = await workloadWorld();
  world.addMachine("m", "n");
  world.etcd.add("n", "10.0.0.1");
  await expect(world.side.removeMember(world.target(), "1000", [])).rejects.toThrow("never removed");
});

test("removes the control plane Nodes of lost Machines, and no others", async () => {
  const world = await three();
  await world.addNode("lost.example", "10.0.0.9");
  world.etcd.add("lost.example", "10.0.0.9");
  const worker = { apiVersion: "v1", kind: "Node", metadata: { name: "worker.example" } };
  await world.client.create(worker as Unstructured);
  expect((await world.observe()).strayNodes).toEqual(["lost.example"]);
  await world.side.removeStrayNodes(world.target());
  await world.side.removeStrayNodes(world.target());
  const { items } = await world.client.list(NodeKind);
  expect(items.map(({ metadata }) => metadata.name)).toEqual([
    "host-1.example",
    "host-2.example",
    "host-3.example",
    "worker.example",
  ]);
  world.state.down = "connection refused";
  await expect(world.side.removeStrayNodes(world.target())).rejects.toThrow("connection refused");
});

test("names the members that are lost and alive when etcd has lost its quorum", async () => {
  const world = await three();
  world.etcd.broken.set("host-1.example", "no route to host");
  world.etcd.leaderless = true;
  expect((await world.observe({ fresh: true })).etcdTrouble).toBeUndefined();
  await world.clock.advance(60_000);
  world.state.down = "connection refused";
  // Two of three are a majority: they elect a leader.
  expect((await world.observe()).etcdTrouble).toBeUndefined();
  await world.clock.advance(60_000);
  world.etcd.broken.set("host-3.example", "no route to host");
  const observed = await world.observe();
  expect(observed.etcdTrouble).toEqual({
    reason: "QuorumLost",
    message:
      "etcd has lost its quorum. Members lost: cp-machine-1, cp-machine-3; alive: cp-machine-2. Power on a majority of them, or restore etcd from what is left: capstan recover c1 -n default",
  });
  expect(observed.machines.get("cp-machine-2")?.components.etcdMember.message).toContain("runs and has no leader");
  world.etcd.broken.set("host-2.example", "no route to host");
  await world.clock.advance(60_000);
  expect((await world.observe()).etcdTrouble?.message).toContain("alive: none");
});
