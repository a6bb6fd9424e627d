import type { Condition } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import type { ObjectNode } from "./object-node.ts";
import { type Cause, chainsOf } from "./why.ts";

const condition = (type: string, status: Condition["status"], message = "", reason = "Because"): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

const node = (kind: string, conditions: Condition[], children: ObjectNode[] = [], deleting = false): ObjectNode => ({
  kind,
  name: kind.toLowerCase(),
  conditions,
  deleting,
  children,
});

/** The causes of each chain. */
const why = (of: ObjectNode): Cause[][] => chainsOf(of).map((chain) => chain.map(({ cause }) => cause));

test("a healthy cluster has no causes", () => {
  expect(
    why(node("Cluster", [condition("Available", "True")], [node("Machine", [condition("Ready", "True")])])),
  ).toEqual([]);
});

test("the chain leads from the cluster through its parts to the root cause", () => {
  const machine = node(
    "Machine",
    [
      condition("Ready", "False", "* InfrastructureReady: no host"),
      condition("InfrastructureReady", "False", "no host"),
    ],
    [node("ByoMachine", [condition("Ready", "False", "no free host matches; enrol one with: capstan host add NAME")])],
  );
  const cluster = node(
    "Cluster",
    [
      condition("Available", "False", "* WorkersAvailable: 0 of 1"),
      condition("ControlPlaneAvailable", "True"),
      condition("WorkersAvailable", "False", "0 of 1"),
    ],
    [
      node("HostedControlPlane", [condition("Available", "True")]),
      node("MachineDeployment", [condition("Available", "False", "0 of 1")], [machine]),
    ],
  );
  const [chain = [], ...others] = why(cluster);
  expect(others).toEqual([]);
  expect(chain.map((cause) => `${cause.kind}.${cause.condition}`)).toEqual([
    "Cluster.WorkersAvailable",
    "MachineDeployment.Available",
    "Machine.InfrastructureReady",
    "ByoMachine.Ready",
  ]);
  expect(chain.at(-1)?.message).toContain("capstan host add");
});

test("that a pool moves nothing is no cause; that it finds no room is", () => {
  const pool = node("WorkerPool", [
    condition("Available", "False", "0 of 4 machines are available"),
    condition("Moving", "False", "", "Settled"),
    condition("Placed", "False", "4 replicas do not fit into any member"),
  ]);
  expect(why(pool).map((chain) => chain.map((cause) => cause.condition))).toEqual([["Placed"]]);
});

test("an object that is being deleted says what it waits for", () => {
  const [chain] = why(
    node(
      "Cluster",
      [condition("Available", "False"), condition("Deleting", "True", "* Machine: m1", "WaitingForWorkersDeletion")],
      [],
      true,
    ),
  );
  expect(chain).toMatchObject([{ condition: "Deleting", reason: "WaitingForWorkersDeletion" }]);
});

test("a paused object is paused before it is anything else", () => {
  const [chain] = why(
    node("Cluster", [
      condition("Available", "Unknown"),
      condition("InfrastructureReady", "False"),
      condition("Paused", "True", "spec.paused"),
    ]),
  );
  expect(chain?.[0]).toMatchObject({ condition: "Paused" });
});

test("trouble below a healthy parent is found too", () => {
  expect(
    why(node("Cluster", [condition("Available", "True")], [node("Machine", [condition("Ready", "False", "disk")])])),
  ).toMatchObject([[{ kind: "Machine" }]]);
});

test("a control plane that serves reports each unhealthy part; its rollout and its backups are another matter", () => {
  const crashes = "* kube-scheduler: exits by itself; its last error: unknown flag; correct spec.scheduler.extraArgs";
  const plane = (...conditions: Condition[]) =>
    node(
      "Cluster",
      [condition("Available", "True")],
      [node("HostedControlPlane", [condition("Available", "True"), ...conditions])],
    );
  const found = why(
    plane(
      condition("UpToDate", "False", "x"),
      condition("EtcdClusterHealthy", "False", "a member is missing"),
      condition("ControlPlaneComponentsHealthy", "False", crashes),
    ),
  );
  expect(found).toMatchObject([[{ message: "a member is missing" }], [{ message: crashes }]]);
  expect(why(plane(condition("UpToDate", "True"), condition("BackedUp", "False", "later")))).toEqual([]);
});

test("a dead host is the cause although the machine waits for an upgrade too", () => {
  const host = node("ByoHost", [condition("Ready", "Unknown", "no heartbeat", "AgentSilent")]);
  const machine = node(
    "Machine",
    [
      condition("Ready", "False"),
      condition("UpToDate", "False", "* Node runs v1.34.4", "Updating"),
      condition("NodeHealthy", "Unknown", "* Node.Ready: Kubelet stopped posting node status."),
    ],
    [node("ByoMachine", [condition("Ready", "True")], [host])],
  );
  const chains = why(node("Cluster", [condition("Available", "True")], [machine]));
  expect(chains.map((chain) => chain.map(({ kind, condition: type }) => `${kind}.${type}`))).toEqual([
    ["Machine.NodeHealthy", "ByoHost.Ready"],
  ]);
});

test("trouble of one part does not stand for trouble of another", () => {
  const cluster = node(
    "Cluster",
    [
      condition("Available", "False"),
      condition("InfrastructureReady", "False", "MetaCluster c does not exist", "ObjectDoesNotExist"),
      condition("WorkersAvailable", "False", "0 of 1"),
    ],
    [node("MachineDeployment", [condition("Available", "False", "0 of 1")])],
  );
  expect(why(cluster).map((chain) => chain.map(({ kind, condition: type }) => `${kind}.${type}`))).toEqual([
    ["Cluster.WorkersAvailable", "MachineDeployment.Available"],
    ["Cluster.InfrastructureReady"],
  ]);
});
