import type { Unstructured } from "@capstan/apimachinery";
import type { PrinterColumn } from "../../types.ts";
import { AGE, age, column, NAME, wide } from "../columns.ts";
import { at, list, num, text } from "../read.ts";

interface Summary {
  ready: number;
  total: number;
  reason: string;
  restarts: number;
  lastRestart: string;
}

/** A string cell that says <none> when empty. */
const orNone = (value: string): string => (value === "" ? "<none>" : value);

/** The columns of `kubectl get pods`, as printPod computes them. */
export const POD_COLUMNS: readonly PrinterColumn[] = [
  NAME,
  column("Ready", (o) => {
    const { ready, total } = summarize(o);
    return `${ready}/${total}`;
  }),
  column("Status", (o) => summarize(o).reason),
  column("Restarts", (o, now) => {
    const { restarts, lastRestart } = summarize(o);
    return restarts !== 0 && lastRestart !== "" ? `${restarts} (${age(lastRestart, now)} ago)` : String(restarts);
  }),
  AGE,
  wide("IP", (o) => orNone(text(at(list(at(o, "status", "podIPs"))[0], "ip")))),
  wide("Node", (o) => orNone(text(at(o, "spec", "nodeName")))),
  wide("Nominated Node", (o) => orNone(text(at(o, "status", "nominatedNodeName")))),
  wide("Readiness Gates", readinessGates),
];

function readinessGates(pod: Unstructured): string {
  const gates = list(at(pod, "spec", "readinessGates"));
  if (gates.length === 0) return "<none>";
  const passed = gates.filter((g) => conditionIsTrue(pod, text(at(g, "conditionType"))));
  return `${passed.length}/${gates.length}`;
}

function conditionIsTrue(pod: Unstructured, type: string): boolean {
  const condition = list(at(pod, "status", "conditions")).find((c) => at(c, "type") === type);
  return at(condition, "status") === "True";
}

function summarize(pod: Unstructured): Summary {
  const phase = text(at(pod, "status", "phase"));
  const own = text(at(pod, "status", "reason"));
  const summary: Summary = {
    ready: 0,
    total: list(at(pod, "spec", "containers")).length + sidecars(pod).size,
    reason: own || phase,
    restarts: 0,
    lastRestart: "",
  };
  if (
    list(at(pod, "status", "conditions")).some(
      (c) => at(c, "type") === "PodScheduled" && at(c, "reason") === "SchedulingGated",
    )
  )
    summary.reason = "SchedulingGated";
  const initializing = summarizeInit(pod, summary);
  if (!initializing || conditionIsTrue(pod, "Initialized")) summarizeContainers(pod, summary);
  if (pod.metadata.deletionTimestamp !== undefined) {
    if (own === "NodeLost") summary.reason = "Unknown";
    else if (phase !== "Failed" && phase !== "Succeeded") summary.reason = "Terminating";
  }
  return summary;
}

/** Sidecars: init containers that keep running alongside the others. */
function sidecars(pod: Unstructured): Set<string> {
  const names = list(at(pod, "spec", "initContainers"))
    .filter((c) => at(c, "restartPolicy") === "Always")
    .map((c) => text(at(c, "name")));
  return new Set(names);
}

function countRestart(status: unknown, into: Pick<Summary, "restarts" | "lastRestart">): void {
  into.restarts += num(at(status, "restartCount"));
  const finished = text(at(status, "lastState", "terminated", "finishedAt"));
  if (finished > into.lastRestart) into.lastRestart = finished;
}

/** Counts init containers; true while one of them is not done. */
function summarizeInit(pod: Unstructured, summary: Summary): boolean {
  const restartable = sidecars(pod);
  const sidecarRestarts = { restarts: 0, lastRestart: "" };
  const total = list(at(pod, "spec", "initContainers")).length;
  let initializing = false;
  for (const [i, status] of list(at(pod, "status", "initContainerStatuses")).entries()) {
    countRestart(status, summary);
    const sidecar = restartable.has(text(at(status, "name")));
    if (sidecar) countRestart(status, sidecarRestarts);
    const terminated = at(status, "state", "terminated");
    if (terminated !== undefined && num(at(terminated, "exitCode")) === 0) continue;
    if (sidecar && at(status, "started") === true) {
      if (at(status, "ready") === true) summary.ready++;
      continue;
    }
    summary.reason = initReason(status, i, total);
    initializing = true;
    break;
  }
  if (!initializing || conditionIsTrue(pod, "Initialized")) Object.assign(summary, sidecarRestarts);
  return initializing;
}

function initReason(status: unknown, index: number, total: number): string {
  const terminated = at(status, "state", "terminated");
  if (terminated !== undefined) return `Init:${terminatedReason(terminated)}`;
  const waiting = text(at(status, "state", "waiting", "reason"));
  if (waiting !== "" && waiting !== "PodInitializing") return `Init:${waiting}`;
  return `Init:${index}/${total}`;
}

function terminatedReason(terminated: unknown): string {
  const reason = text(at(terminated, "reason"));
  if (reason !== "") return reason;
  const signal = num(at(terminated, "signal"));
  return signal === 0 ? `ExitCode:${num(at(terminated, "exitCode"))}` : `Signal:${signal}`;
}

function summarizeContainers(pod: Unstructured, summary: Summary): void {
  let running = false;
  for (const status of list(at(pod, "status", "containerStatuses")).toReversed()) {
    countRestart(status, summary);
    const waiting = text(at(status, "state", "waiting", "reason"));
    const terminated = at(status, "state", "terminated");
    if (waiting !== "") summary.reason = waiting;
    else if (terminated !== undefined) summary.reason = terminatedReason(terminated);
    else if (at(status, "ready") === true && at(status, "state", "running") !== undefined) {
      running = true;
      summary.ready++;
    }
  }
  if (summary.reason === "Completed" && running)
    summary.reason = conditionIsTrue(pod, "Ready") ? "Running" : "NotReady";
}
