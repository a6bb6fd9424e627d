import { findCondition } from "@capstan/apimachinery";
import { conditionsOf, KubeadmControlPlane, Machine } from "@capstan/capi";
import { afterEach, expect, test } from "vitest";
import { kubeadmCluster } from "./kubeadm-manifests.ts";
import { fault, machinesOf, members, settled } from "./kubeadm-plane.ts";
import { Plane } from "./plane.ts";

interface Fault {
  readonly name: string;
  /** Only a machine that is not part of the cluster yet can have it. */
  readonly joining?: boolean;
  /** The condition of the Machine that names it: type, status and message. */
  readonly condition: readonly [type: string, status: "False" | "Unknown", message: RegExp];
}

const PARTITIONED: Fault = {
  name: "EtcdPartitioned",
  condition: ["EtcdMemberHealthy", "Unknown", /^Failed to connect to etcd: .* runs and has no leader$/],
};
const NO_SPACE: Fault = {
  name: "EtcdNoSpace",
  condition: ["EtcdMemberHealthy", "False", /^Etcd reports alarms: NOSPACE$/],
};
const API_SERVER: Fault = {
  name: "APIServerCrashes",
  condition: ["APIServerPodHealthy", "False", /CrashLoopBackOff/],
};
const CONTROLLER_MANAGER: Fault = {
  name: "ControllerManagerCrashes",
  condition: ["ControllerManagerPodHealthy", "False", /CrashLoopBackOff/],
};
const NO_NODE: Fault = {
  name: "NoNode",
  joining: true,
  condition: ["NodeHealthy", "Unknown", /^Waiting for a Node with spec.providerID /],
};
const NEVER_PROMOTED: Fault = {
  name: "NeverPromoted",
  joining: true,
  condition: ["EtcdMemberHealthy", "Unknown", /learner/],
};

const SIZES = [3, 5];
const nameOf = ({ name }: Fault): string => name.toLowerCase();

let plane: Plane;
afterEach(() => plane.close());

const namesOf = async (cluster: string): Promise<string[]> =>
  (await machinesOf(plane, cluster)).map(({ metadata }) => metadata.name ?? "");

/** Gives one machine of a control plane a fault, and returns its name. */
async function strike({ name, joining = false }: Fault, cluster: string, replicas: number): Promise<string> {
  const before = await namesOf(cluster);
  if (!joining) {
    await fault(plane, before[0] ?? "", name);
    return before[0] ?? "";
  }
  await plane.client.patch(await plane.get(KubeadmControlPlane, cluster), { spec: { replicas } });
  let struck = "";
  await plane.until(`${cluster} has another machine`, async () => {
    struck = (await namesOf(cluster)).find((each) => !before.includes(each)) ?? "";
    if (struck === "") return false;
    return await fault(plane, struck, name).then(
      () => true,
      () => false,
    );
  });
  return struck;
}

/** A cluster for each fault, in which one of the machines has it; all of them are named by their conditions. Returns these machines. */
async function struck(faults: readonly Fault[], replicas: number): Promise<Map<Fault, string>> {
  plane = await Plane.start({ own: 0, metal: 0 });
  const sizeOf = ({ joining }: Fault): number => (joining === true ? replicas - 2 : replicas);
  for (const each of faults) await plane.apply(kubeadmCluster(nameOf(each), { replicas: sizeOf(each) }));
  for (const each of faults) await settled(plane, nameOf(each), { replicas: sizeOf(each) });
  const machines = new Map<Fault, string>();
  for (const each of faults) machines.set(each, await strike(each, nameOf(each), replicas));
  // Capstan heals some within moments of their appearance.
  const unseen = new Map(machines);
  await plane.until(`conditions name ${faults.map(({ name }) => name).join(", ")}`, async () => {
    for (const [each, machine] of unseen) if (await isNamed(each, machine)) unseen.delete(each);
    return unseen.size === 0;
  });
  return machines;
}

async function isNamed({ condition: [type, status, message] }: Fault, machine: string): Promise<boolean> {
  const found = findCondition(conditionsOf(await plane.get(Machine, machine)), type);
  return found?.status === status && message.test(found.message ?? "");
}

/** Adds a health check that gives up on a Machine with the condition of a fault. */
async function addHealthCheck({ condition: [type, status] }: Fault, cluster: string): Promise<void> {
  await plane.apply(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: { name: ${cluster}, namespace: default }
spec:
  clusterName: ${cluster}
  selector: { matchLabels: { cluster.x-k8s.io/control-plane: "" } }
  checks:
    nodeStartupTimeoutSeconds: 120
    unhealthyMachineConditions: [{ type: ${type}, status: "${status}", timeoutSeconds: 60 }]
`);
}

async function expectWhole(cluster: string, replicas: number): Promise<void> {
  await settled(plane, cluster, { replicas });
  const nodes = (await machinesOf(plane, cluster)).map(({ status }) => status?.nodeRef?.name ?? "");
  expect((await members(plane, cluster)).toSorted(), cluster).toEqual(nodes.toSorted());
  const { status } = await plane.get(KubeadmControlPlane, cluster);
  expect(findCondition(status?.conditions ?? [], "EtcdClusterHealthy")?.status, cluster).toBe("True");
  expect(findCondition(status?.conditions ?? [], "ControlPlaneComponentsHealthy")?.status, cluster).toBe("True");
}

test.each(SIZES)(
  "a fault of one machine of %i is named by its condition, and leaves no trace when it ends",
  async (replicas) => {
    const faults = [PARTITIONED, API_SERVER, CONTROLLER_MANAGER, NO_NODE];
    const machines = await struck(faults, replicas);
    const before = new Map<Fault, string[]>();
    for (const each of faults) before.set(each, await namesOf(nameOf(each)));
    for (const machine of machines.values()) await fault(plane, machine, null);
    for (const each of faults) {
      await plane.until(`${each.name} has healed`, async () => {
        const { status } = await plane.get(KubeadmControlPlane, nameOf(each));
        return status?.readyReplicas === replicas;
      });
      await expectWhole(nameOf(each), replicas);
      expect(await namesOf(nameOf(each)), each.name).toEqual(expect.arrayContaining(before.get(each) ?? []));
    }
  },
  240_000,
);

test.each(SIZES)(
  "a health check that sees the fault of one machine of %i has it replaced, and no other",
  async (replicas) => {
    const faults = [PARTITIONED, API_SERVER, CONTROLLER_MANAGER, NO_NODE, NEVER_PROMOTED];
    const machines = await struck(faults, replicas);
    const before = new Map<Fault, string[]>();
    for (const each of faults) before.set(each, await namesOf(nameOf(each)));
    for (const each of faults) await addHealthCheck(each, nameOf(each));
    for (const [each, machine] of machines) {
      await plane.until(`${each.name} has been replaced`, async () => !(await namesOf(nameOf(each))).includes(machine));
      await expectWhole(nameOf(each), replicas);
      const others = before.get(each)?.filter((name) => name !== machine) ?? [];
      expect(await namesOf(nameOf(each)), each.name).toEqual(expect.arrayContaining(others));
    }
  },
  240_000,
);

test.each(SIZES)(
  "etcd of %i machines that runs out of space is compacted, and no machine is replaced",
  async (replicas) => {
    await struck([NO_SPACE], replicas);
    const before = await namesOf(nameOf(NO_SPACE));
    await plane.until("the alarm is disarmed", async () => {
      const { status } = await plane.get(KubeadmControlPlane, nameOf(NO_SPACE));
      return findCondition(status?.conditions ?? [], "EtcdClusterHealthy")?.status === "True";
    });
    await expectWhole(nameOf(NO_SPACE), replicas);
    expect(await namesOf(nameOf(NO_SPACE))).toEqual(before);
  },
  240_000,
);
