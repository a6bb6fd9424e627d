import { type ConditionInput, type Node, referenceText, type WorkloadConnection } from "@capstan/capi";
import type { MachineConditionsInput } from "./machine.conditions.ts";

/** How long the last word about a Node is believed after the workload cluster fell silent. */
const CONNECTION_GRACE_MS = 5 * 60_000;

/** Computes NodeHealthy and NodeReady from the Node's conditions, or why they are unknown. */
export function nodeConditions(input: MachineConditionsInput): { healthy: ConditionInput; ready: ConditionInput } {
  const { node } = input.scope;
  if (node !== undefined) return { healthy: nodeHealthy(node), ready: nodeReady(node) };
  const kept = keptWhileSilent(input);
  if (kept !== undefined) return kept;
  const why = whyNoNode(input);
  return { healthy: { type: "NodeHealthy", ...why }, ready: { type: "NodeReady", ...why } };
}

type Reason = Pick<ConditionInput, "status" | "reason" | "message">;

/** A short silence says nothing about the Node: the conditions stay as they are. */
function keptWhileSilent({
  scope,
  nowMs,
}: MachineConditionsInput): { healthy: ConditionInput; ready: ConditionInput } | undefined {
  const { connection, machine } = scope;
  if (connection.state === "connected" || machine.status?.nodeRef === undefined) return undefined;
  if (nowMs - connection.since > CONNECTION_GRACE_MS) return undefined;
  const find = (type: string): ConditionInput | undefined => {
    const found = machine.status?.conditions?.find((condition) => condition.type === type);
    if (found === undefined) return undefined;
    const { status, reason, message } = found;
    return { type, status: status as ConditionInput["status"], reason, message };
  };
  const healthy = find("NodeHealthy");
  const ready = find("NodeReady");
  return healthy === undefined || ready === undefined ? undefined : { healthy, ready };
}

/** Why there is no Node. The reasons are upstream's, which has one for everything that is pending; the message says what. */
function whyNoNode(input: MachineConditionsInput): Reason {
  const { scope } = input;
  const { machine, cluster, connection } = scope;
  const unknown = (reason: string, message: string): Reason => ({ status: "Unknown", reason, message });
  const bound = machine.status?.nodeRef?.name;
  const deleting = machine.metadata.deletionTimestamp !== undefined;
  if (cluster?.status?.initialization?.infrastructureProvisioned !== true && bound === undefined)
    return unknown(
      "InspectionFailed",
      "Waiting for Cluster status.initialization.infrastructureProvisioned to be true",
    );
  if (cluster?.status?.initialization?.controlPlaneInitialized !== true && bound === undefined)
    return unknown("InspectionFailed", "Waiting for Cluster control plane to be initialized");
  if (connection.state !== "connected") return unknown("ConnectionDown", connectionText(connection));
  if (input.nodeProblem !== undefined) return unknown("InspectionFailed", input.nodeProblem);
  if (bound !== undefined)
    return deleting
      ? { status: "False", reason: "NodeDeleted", message: `Node ${bound} has been deleted` }
      : {
          status: "False",
          reason: "NodeDeleted",
          message: `Node ${bound} has been deleted while the Machine still exists`,
        };
  if (deleting) return unknown("NodeDoesNotExist", "Node does not exist");
  return unknown(
    "InspectionFailed",
    machine.spec.providerID === undefined
      ? `Waiting for ${referenceText(machine.spec.infrastructureRef)} to report spec.providerID`
      : `Waiting for a Node with spec.providerID ${machine.spec.providerID} to exist`,
  );
}

function connectionText(connection: Exclude<WorkloadConnection, { state: "connected" }>): string {
  return `Cannot reach the workload cluster: ${connection.error}`;
}

/** Pressure is bad when True, Ready when not. */
const HEALTH_TYPES = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

function nodeHealthy(node: Node): ConditionInput {
  const bad: string[] = [];
  const unknown: string[] = [];
  for (const type of HEALTH_TYPES) {
    const condition = node.status?.conditions?.find((c) => c.type === type);
    if (condition === undefined) {
      unknown.push(`* Node.${type}: Condition not yet reported`);
      continue;
    }
    const good = type === "Ready" ? "True" : "False";
    const text = `* Node.${type}: ${condition.message !== undefined && condition.message !== "" ? condition.message : `Node condition ${type} is ${condition.status}`}`;
    if (condition.status === "Unknown") unknown.push(text);
    else if (condition.status !== good) bad.push(text);
  }
  const type = "NodeHealthy";
  if (bad.length > 0)
    return { type, status: "False", reason: "NodeNotHealthy", message: [...bad, ...unknown].join("\n") };
  if (unknown.length > 0) return { type, status: "Unknown", reason: "NodeHealthyUnknown", message: unknown.join("\n") };
  return { type, status: "True", reason: "NodeHealthy", message: "" };
}

function nodeReady(node: Node): ConditionInput {
  const type = "NodeReady";
  const condition = node.status?.conditions?.find((c) => c.type === "Ready");
  if (condition === undefined)
    return { type, status: "Unknown", reason: "NodeReadyUnknown", message: "* Node.Ready: Condition not yet reported" };
  if (condition.status === "True") return { type, status: "True", reason: "NodeReady", message: "" };
  const message = `* Node.Ready: ${condition.message ?? condition.reason ?? ""}`;
  // Message of kubelets without CNI.
  if (condition.status === "False" && message.includes("NetworkPluginNotReady"))
    return {
      type,
      status: "False",
      reason: "PodNetworkMissing",
      message: `${message}\n* The cluster has no pod network (CNI) yet: apply one, by hand or with a ClusterResourceSet`,
    };
  return condition.status === "False"
    ? { type, status: "False", reason: "NodeNotReady", message }
    : { type, status: "Unknown", reason: "NodeReadyUnknown", message };
}
