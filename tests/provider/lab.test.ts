import { findCondition, seededRandom } from "@capstan/apimachinery";
import { conditionsOf, Machine, type RunningProvider, runProvider } from "@capstan/capi";
import { silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cluster } from "../simulation/manifests.ts";
import { Plane } from "../simulation/plane.ts";
import { LabMachine, labProvider } from "./lab.ts";
import { MemoryLab } from "./memory-lab.ts";

let plane: Plane;
let lab: MemoryLab;
let running: RunningProvider;

beforeEach(async () => {
  // Until the provider brings the role for its kinds, the core may not look at them.
  plane = await Plane.start({ own: 0, metal: 0, mayBeRefused: /lab(clusters|machine)/ });
  lab = new MemoryLab({ clock: plane.clock, hosts: { "rack-1": 2, "rack-2": 1 }, bootMs: 20_000 });
});

afterEach(async () => {
  await running.stop();
  await plane.close();
});

async function start(): Promise<void> {
  const { clock } = plane;
  const starting = runProvider(labProvider(lab), {
    transport: plane.server.admin(),
    clock,
    random: seededRandom(5),
    log: silentLogger,
  });
  await plane.pass(2_000);
  running = await starting;
}

const workers = (replicas: number): string => `---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: LabCluster
metadata: {name: c1, namespace: default}
spec: {}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: LabMachineTemplate
metadata: {name: c1, namespace: default}
spec: {template: {spec: {rack: rack-1}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: c1, namespace: default}
spec: {template: {spec: {}}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: c1, namespace: default}
spec:
  clusterName: c1
  replicas: ${replicas}
  selector: {}
  template:
    spec:
      clusterName: c1
      version: v1.34.4
      bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfigTemplate, name: c1}}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: LabMachineTemplate, name: c1}
`;

test("an external provider in its own process provides machines to a cluster and removes them", async () => {
  await start();
  await plane.apply(cluster("c1", "LabCluster") + workers(3));
  await plane.pass(120_000);
  const machines = (await plane.client.list(Machine, { namespace: "default" })).items;
  const provisioned = machines.filter(({ status }) => status?.initialization?.infrastructureProvisioned === true);
  expect(new Set(provisioned.map(({ spec }) => spec.providerID))).toEqual(
    new Set(["lab://rack-1-1", "lab://rack-1-2"]),
  );
  expect(provisioned[0]?.status?.addresses).toMatchObject([{ type: "Hostname" }]);
  const waiting = (await plane.client.list(LabMachine, { namespace: "default" })).items.filter(
    ({ spec }) => spec?.providerID === undefined,
  );
  expect(waiting.map((object) => findCondition(conditionsOf(object), "Ready"))).toMatchObject([
    { status: "False", reason: "InsufficientCapacity", message: "No host in rack rack-1 is free" },
  ]);
  // Another process of it continues where the last one stopped.
  await running.stop();
  await start();
  await plane.client.patch(
    {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "MachineDeployment",
      metadata: { name: "c1", namespace: "default" },
    },
    { spec: { replicas: 0 } },
  );
  await plane.pass(120_000);
  expect(lab.owners()).toEqual([]);
  expect((await plane.client.list(LabMachine, { namespace: "default" })).items).toEqual([]);
});
