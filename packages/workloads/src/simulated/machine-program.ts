import { formatTime } from "@capstan/apimachinery";
import {
  type InfraMachineObject,
  isControlPlaneMachine,
  type MachineAddress,
  type MachineScope,
  type NodeTaint,
} from "@capstan/capi";
import type { PlaneMachine } from "./control-plane/plane-machine.ts";
import type { SimulatedControlPlanes } from "./control-plane/simulated-control-planes.ts";
import type { GuestProgram } from "./guest.ts";
import { type JoinPlan, joinPlan, type KubeadmPlan, kubeadmPlan } from "./join-plan.ts";
import { type JoinDeps, joinCluster, kubeletOver } from "./kubelet.ts";
import { nodeOf } from "./node.ts";

/** What a provider says about a machine that it simulates. */
export interface SimulatedMachine {
  readonly scope: Pick<
    MachineScope<InfraMachineObject>,
    "object" | "machine" | "cluster" | "bootstrap" | "workload" | "clock"
  >;
  readonly providerID: string;
  readonly addresses: readonly MachineAddress[];
  readonly capacity: Readonly<Record<string, string>>;
  readonly join: JoinDeps;
}

/** What kubeadm marks a control plane Node with. */
const CONTROL_PLANE_LABELS = {
  "node-role.kubernetes.io/control-plane": "",
  "node.kubernetes.io/exclude-from-external-load-balancers": "",
};
const CONTROL_PLANE_TAINT: NodeTaint = { key: "node-role.kubernetes.io/control-plane", effect: "NoSchedule" };

/** Returns what a machine is in its cluster's control plane; undefined for workers. */
export function planeMember(
  { scope, addresses, join }: SimulatedMachine,
  planes: SimulatedControlPlanes | undefined,
): PlaneMachine | undefined {
  const { machine, cluster, object } = scope;
  if (planes === undefined || !isControlPlaneMachine(machine)) return undefined;
  const { namespace = "", name = "", uid = "" } = cluster.metadata;
  const facts = {
    machine: object.metadata.name ?? "",
    clusterUid: uid,
    address: addresses[0]?.address ?? "",
    version: machine.spec.version ?? "",
    connect: join.connect,
  };
  return planes.machine({ namespace, name }, facts);
}

/** Returns what a machine runs; `resumed` when it had joined before this process started. */
export async function machineProgram(
  simulated: SimulatedMachine,
  member: PlaneMachine | undefined,
  resumed: boolean,
): Promise<GuestProgram> {
  if (member !== undefined) return await memberProgram(simulated, member);
  return resumed ? resumedProgram(simulated) : await bootProgram(simulated);
}

/** A control plane machine, whether it boots for the first time or continues: its bootstrap data has the authorities. */
async function memberProgram(simulated: SimulatedMachine, member: PlaneMachine): Promise<GuestProgram> {
  const { bootstrap, object, clock } = simulated.scope;
  const data = await bootstrap.data();
  let plan: KubeadmPlan | undefined;
  const read = async (): Promise<KubeadmPlan> => {
    plan ??= await kubeadmPlan(data, object.metadata.name ?? "", clock);
    return plan;
  };
  return {
    join: async (signal) => member.start(await read(), signal),
    register: async (kubelet) => {
      const { nodeName, taints, noTaints } = await read();
      const all = noTaints === true || taints.length > 0 ? taints : [CONTROL_PLANE_TAINT];
      await member.register(kubelet, nodeFor(simulated, { nodeName, taints: all }, CONTROL_PLANE_LABELS));
    },
    post: async (kubelet, alive) => member.post(kubelet, (await read()).nodeName, alive),
  };
}

/** The first boot: joins with what the bootstrap data says. */
async function bootProgram(simulated: SimulatedMachine): Promise<GuestProgram> {
  const { bootstrap, object, clock } = simulated.scope;
  const data = await bootstrap.data();
  let plan: JoinPlan | undefined;
  const read = async (): Promise<JoinPlan> => {
    plan ??= await joinPlan(data, object.metadata.name ?? "", clock);
    return plan;
  };
  return {
    join: async (signal) => joinCluster(await read(), simulated.join, signal),
    register: async (kubelet) => kubelet.register(nodeFor(simulated, await read())),
    post: async (kubelet, alive) => kubelet.post((await read()).nodeName, alive),
  };
}

/** A later start: the kubelet has its certificate already, only this process has forgotten it. */
function resumedProgram(simulated: SimulatedMachine): GuestProgram {
  const { workload, object, machine } = simulated.scope;
  const known = workload.state === "connected" ? workload.nodes.byProviderID(simulated.providerID) : undefined;
  const nodeName = known?.metadata.name ?? machine.status?.nodeRef?.name ?? object.metadata.name ?? "";
  return {
    join: async () => {
      if (workload.state !== "connected") throw new Error("the workload cluster is not connected");
      return kubeletOver(workload.client);
    },
    register: (kubelet) => kubelet.resume(nodeFor(simulated, { nodeName, taints: [] })),
    post: (kubelet, alive) => kubelet.post(nodeName, alive),
  };
}

function nodeFor(
  { scope, providerID, addresses, capacity }: SimulatedMachine,
  plan: Pick<JoinPlan, "nodeName" | "taints">,
  labels: Readonly<Record<string, string>> = {},
): ReturnType<typeof nodeOf> {
  const { machine, clock } = scope;
  return nodeOf({
    name: plan.nodeName,
    providerID,
    labels,
    version: machine.spec.version ?? "",
    addresses: [...addresses],
    capacity: { ...capacity },
    failureDomain: machine.spec.failureDomain,
    taints: plan.taints,
    since: formatTime(clock.now()),
  });
}
