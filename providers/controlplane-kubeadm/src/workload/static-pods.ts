import type { Machine, Node } from "@capstan/capi";
import type { Pod } from "@capstan/workloads";
import type { ReportedHealth } from "./workload-side.ts";

/** Where kubeadm's static pods show themselves. */
export const STATIC_PODS = { namespace: "kube-system", labelSelector: "tier=control-plane" };

/** Name of the mirror pod of a static pod. */
export const staticPodName = (component: string, nodeName: string): string => `${component}-${nodeName}`;

/** Texts of a foreign cluster go into conditions, which keep 32 KiB. */
const MAX_TEXT = 500;

/** A condition's value. */
export const health = (status: ReportedHealth["status"], reason: string, message = ""): ReportedHealth => ({
  status,
  reason,
  message: message.slice(0, MAX_TEXT),
});

/** Health of a static pod from what the kubelet reports, with upstream's reasons and messages. */
export function podHealth(pod: Pod | undefined): ReportedHealth {
  if (pod === undefined) return health("False", "DoesNotExist", "Pod does not exist");
  switch (pod.status?.phase) {
    case "Pending":
      if (conditionOf(pod, "PodScheduled") !== "True") return provisioning("Waiting to be scheduled");
      if (conditionOf(pod, "Initialized") !== "True") return provisioning("Running init containers");
      return provisioning(imageProblem(pod));
    case "Running":
      return runningHealth(pod);
    case "Succeeded":
    case "Failed":
      return health("False", "Failed", "All the containers have been terminated");
    default:
      return health("Unknown", "InspectionFailed", "Pod is reporting Unknown status");
  }
}

/** Only the kubelet's message has the name of an image that cannot be pulled. */
function imageProblem({ status }: Pod): string {
  const waiting = (status?.containerStatuses ?? []).flatMap(({ state }) => state?.waiting ?? []);
  return waiting
    .filter(({ reason = "" }) => reason.includes("Image"))
    .map(({ reason, message = "" }) => [reason, message].filter((text) => text !== "").join(": "))
    .join(", ");
}

function runningHealth(pod: Pod): ReportedHealth {
  if (conditionOf(pod, "Ready") === "True") return health("True", "Running");
  const containers = pod.status?.containerStatuses ?? [];
  const reasons = (state: "waiting" | "terminated"): string =>
    containers
      .flatMap((each) => (each.state?.[state] === undefined ? [] : [each.state[state].reason ?? ""]))
      .join(", ");
  // A container that keeps failing waits most of the time, for its next start.
  const failedBefore = containers.some(({ lastState }) => (lastState?.terminated?.exitCode ?? 0) !== 0);
  if (containers.some(({ state }) => state?.waiting !== undefined)) {
    const why = imageProblem(pod) || reasons("waiting");
    return failedBefore ? health("False", "Failed", why) : provisioning(why);
  }
  if (containers.some(({ state }) => state?.terminated !== undefined))
    return health("False", "Failed", reasons("terminated"));
  return provisioning("Waiting for startup or readiness probes");
}

const provisioning = (message: string): ReportedHealth => health("False", "Provisioning", message);

function conditionOf({ status }: Pod, type: string): string {
  return status?.conditions?.find((each) => each.type === type)?.status ?? "Unknown";
}

/** Why nothing is known about the components of a Machine, whatever its pods look like; undefined if they can be believed. */
export function withoutPods(machine: Machine, node: Node | undefined): ReportedHealth | undefined {
  if (machine.metadata.deletionTimestamp !== undefined) return health("False", "Deleting", "Machine is deleting");
  const waiting = withoutNode(machine);
  if (waiting !== undefined) return waiting;
  const name = machine.status?.nodeRef?.name ?? "";
  if (node === undefined) return health("Unknown", "InspectionFailed", `Node ${name} does not exist`);
  if (isUnreachable(node)) return health("Unknown", "InspectionFailed", `Node ${name} is unreachable`);
  return undefined;
}

/** What a Machine without a Node waits for. */
export function withoutNode({ spec, status }: Machine): ReportedHealth | undefined {
  if (status?.nodeRef?.name !== undefined) return undefined;
  const message =
    spec.providerID === undefined || spec.providerID === ""
      ? `Waiting for ${spec.infrastructureRef.kind} to report spec.providerID`
      : `Waiting for a Node with spec.providerID ${spec.providerID} to exist`;
  return health("Unknown", "InspectionFailed", message);
}

/** Mirror pods are as old as the kubelet's last report. */
export function staleHealth(node: Node): ReportedHealth | undefined {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  return ready?.status === "Unknown"
    ? health("Unknown", "InspectionFailed", "Node Ready condition is Unknown, Pod data might be stale")
    : undefined;
}

/** A component that fails on a Node without space: neither its pod nor etcd says so. */
export function withDiskPressure(value: ReportedHealth, node: Node): ReportedHealth {
  const pressure = node.status?.conditions?.find(({ type, status }) => type === "DiskPressure" && status === "True");
  if (pressure === undefined || value.status === "True") return value;
  const cure = `Node ${node.metadata.name} has DiskPressure (${pressure.message ?? ""}): free space on its disk, or delete the Machine to replace it`;
  return health(value.status, value.reason, [value.message, cure].filter((text) => text !== "").join("; "));
}

function isUnreachable({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(
    ({ key, effect }) => key === "node.kubernetes.io/unreachable" && effect === "NoExecute",
  );
}
