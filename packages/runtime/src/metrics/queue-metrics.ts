import type { Gauge, Registry } from "prom-client";
import type { QueueState } from "../queue/work-queue.ts";

/** Registers the workqueue gauges, computed at each scrape. Returns a function that adds a queue; a queue of the same name is replaced. */
export function observeQueues(
  GaugeClass: typeof Gauge,
  registry: Registry,
): (name: string, state: () => QueueState) => void {
  const queues = new Map<string, () => QueueState>();
  const labels: ("name" | "controller")[] = ["name", "controller"];
  const depth: Gauge<"name" | "controller" | "priority"> = new GaugeClass({
    name: "workqueue_depth",
    help: "Current depth of workqueue by workqueue and priority",
    labelNames: [...labels, "priority"],
    registers: [registry],
    collect: () => {
      depth.reset();
      for (const [name, state] of queues) {
        for (const [priority, count] of state().depths)
          depth.set({ name, controller: name, priority: String(priority) }, count);
      }
    },
  });
  const seconds = (metric: string, help: string, pick: (state: QueueState) => number): void => {
    const gauge: Gauge<"name" | "controller"> = new GaugeClass({
      name: metric,
      help,
      labelNames: labels,
      registers: [registry],
      collect: () => {
        for (const [name, state] of queues) gauge.set({ name, controller: name }, pick(state()) / 1000);
      },
    });
  };
  seconds(
    "workqueue_unfinished_work_seconds",
    "How many seconds the work that is in progress has taken so far; grows without bound when a reconcile is stuck",
    ({ unfinishedMs }) => unfinishedMs,
  );
  seconds(
    "workqueue_longest_running_processor_seconds",
    "How many seconds the longest of the reconciles in progress has been running",
    ({ longestMs }) => longestMs,
  );
  return (name, state) => queues.set(name, state);
}
