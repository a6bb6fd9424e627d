import type { ConditionInput } from "../contract/conditions.ts";
import type { InfraMachineObject } from "./infra-kinds.ts";
import type { MachineScope } from "./scope.ts";

type Scope = Pick<MachineScope<InfraMachineObject>, "workload" | "signal">;

const NODE = { group: "", version: "v1", kind: "Node", plural: "nodes", namespaced: false } as const;

/** Whether a machine's Node is known by its provider ID. */
export interface NodeIdentity {
  readonly settled: boolean;
  readonly condition?: ConditionInput;
}

/** Gives the Node of a machine its provider ID, where the image's kubelet has not: without it the Machine never finds its Node. */
export async function identifyNode(
  { workload, signal }: Scope,
  name: string,
  providerID: string,
): Promise<NodeIdentity> {
  if (workload.state !== "connected") return { settled: false };
  if (workload.nodes.byProviderID(providerID) !== undefined) return { settled: true, condition: identified("True") };
  const node = workload.nodes.get(name);
  if (node === undefined) return { settled: false };
  const other = node.spec?.providerID;
  if (other !== undefined && other !== "") {
    const message = `Node ${name} has the provider ID ${other} of another machine; delete that Node, or set provider-id in kubeletExtraArgs to ${providerID}`;
    return { settled: false, condition: { ...identified("False"), reason: "NodeOfAnotherMachine", message } };
  }
  await workload.client.patch({ kind: NODE, name }, { spec: { providerID } }, {}, signal);
  return { settled: true, condition: identified("True") };
}

function identified(status: "True" | "False"): ConditionInput {
  return { type: "NodeProviderIDSet", status, reason: "NodeProviderIDSet", message: "" };
}
