import type { Clock } from "@capstan/apimachinery";
import type { Registry } from "prom-client";
import type { Cache } from "../cache/cache.ts";
import type { KindRef } from "../kind.ts";
import type { QueueObserver } from "../queue/work-queue.ts";
import { type ObjectSubject, observeObjects } from "./object-metrics.ts";
import { observeProcess } from "./process-metrics.ts";
import { observeQueues } from "./queue-metrics.ts";
import type { ControllerMetrics, RuntimeMetrics } from "./types.ts";

/** controller-runtime's buckets of controller_runtime_reconcile_time_seconds. */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

/** client-go's: ten nanoseconds, then times ten, twelve of them. */
const QUEUE_BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1000];

/** One sample of a gauge. */
export interface GaugeValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Metrics of the runtime under the names that controller-runtime and client-go use. */
export interface Metrics extends RuntimeMetrics {
  /** For metrics of other packages. */
  readonly registry: Registry;
  /** Shows creation, deletion and reconcile times of the objects controllers are for. */
  watchObjects(cache: Cache): void;
  /** A gauge that is read as a whole when Prometheus asks; values that `read` no longer returns disappear. */
  gauge(name: string, help: string, labelNames: readonly string[], read: () => readonly GaugeValue[]): void;
  leader(name: string, leading: boolean): void;
  /** A webhook is called; the returned function is called with its status code. */
  webhook(path: string): (code: number) => void;
  /** A serving certificate was put in use, or could not be. */
  certificate(read: boolean): void;
  /** The page Prometheus reads. */
  text(): Promise<{ contentType: string; body: string }>;
}

/** Creates the metrics registry, loading prom-client on first use. `process` adds metrics of the process itself. */
export async function createMetrics(options: { clock: Clock; process?: boolean }): Promise<Metrics> {
  const prom = await import("prom-client");
  const registry = new prom.Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new prom.Counter<L>({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: L[]) =>
    new prom.Gauge<L>({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: L[], buckets: number[]) =>
    new prom.Histogram<L>({ name, help, labelNames, buckets, registers });

  const reconciles = counter("controller_runtime_reconcile_total", "Total number of reconciliations per controller", [
    "controller",
    "result",
  ]);
  const errors = counter(
    "controller_runtime_reconcile_errors_total",
    "Total number of reconciliation errors per controller",
    ["controller"],
  );
  const terminal = counter(
    "controller_runtime_terminal_reconcile_errors_total",
    "Total number of terminal reconciliation errors per controller",
    ["controller"],
  );
  const times = histogram(
    "controller_runtime_reconcile_time_seconds",
    "Length of time per reconciliation per controller",
    ["controller"],
    RECONCILE_BUCKETS,
  );
  const maximum = gauge(
    "controller_runtime_max_concurrent_reconciles",
    "Maximum number of concurrent reconciles per controller",
    ["controller"],
  );
  const active = gauge("controller_runtime_active_workers", "Number of currently used workers per controller", [
    "controller",
  ]);
  const panics = counter(
    "controller_runtime_reconcile_panics_total",
    "Total number of reconciliation panics per controller: mistakes of the program, which are errors as well",
    ["controller"],
  );
  const queueLabels: ("name" | "controller")[] = ["name", "controller"];
  const watchQueue = observeQueues(prom.Gauge, registry);
  const adds = counter("workqueue_adds_total", "Total number of adds handled by workqueue", queueLabels);
  const retries = counter("workqueue_retries_total", "Total number of retries handled by workqueue", queueLabels);
  const waits = histogram(
    "workqueue_queue_duration_seconds",
    "How long in seconds an item stays in workqueue before being requested",
    queueLabels,
    QUEUE_BUCKETS,
  );
  const works = histogram(
    "workqueue_work_duration_seconds",
    "How long in seconds processing an item from workqueue takes.",
    queueLabels,
    QUEUE_BUCKETS,
  );
  const requests = counter(
    "rest_client_requests_total",
    "Number of HTTP requests, partitioned by status code, method, and host.",
    ["code", "method", "host"],
  );
  const leading = gauge(
    "leader_election_master_status",
    "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.",
    ["name"],
  );
  const webhooks = counter(
    "controller_runtime_webhook_requests_total",
    "Total number of admission and conversion requests by HTTP status code.",
    ["webhook", "code"],
  );
  const latency = histogram(
    "controller_runtime_webhook_latency_seconds",
    "Histogram of the latency of processing admission and conversion requests",
    ["webhook"],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  const inFlight = gauge(
    "controller_runtime_webhook_requests_in_flight",
    "Current number of admission and conversion requests being served.",
    ["webhook"],
  );
  const certificates = counter(
    "certwatcher_read_certificate_total",
    "Total number of serving certificates put in use",
    [],
  );
  const certificateErrors = counter(
    "certwatcher_read_certificate_errors_total",
    "Total number of serving certificates that could not be renewed",
    [],
  );
  const subjects: ObjectSubject[] = [];
  if (options.process === true) observeProcess(prom, registry, options.clock);

  return {
    registry,
    controller(name, concurrency, kind): ControllerMetrics {
      maximum.set({ controller: name }, concurrency);
      const subject: ObjectSubject | undefined =
        kind === undefined ? undefined : { controller: name, kind: kind as KindRef, lastReconciledMs: undefined };
      if (subject !== undefined) subjects.push(subject);
      const results = {
        success: reconciles.labels({ controller: name, result: "success" }),
        requeue_after: reconciles.labels({ controller: name, result: "requeue_after" }),
        error: reconciles.labels({ controller: name, result: "error" }),
      };
      const time = times.labels({ controller: name });
      const workers = active.labels({ controller: name });
      const failed = errors.labels({ controller: name });
      const hopeless = terminal.labels({ controller: name });
      const mistakes = panics.labels({ controller: name });
      // There from the start, as upstream: who charts the rate of errors must see the first one.
      for (const count of [...Object.values(results), failed, hopeless, mistakes]) count.inc(0);
      workers.set(0);
      return {
        reconciled(outcome, ms) {
          time.observe(ms / 1000);
          if (subject !== undefined) subject.lastReconciledMs = options.clock.now();
          // As upstream, a terminal error counts as an error as well.
          results[outcome === "terminal" ? "error" : outcome].inc();
          if (outcome === "error" || outcome === "terminal") failed.inc();
          if (outcome === "terminal") hopeless.inc();
        },
        panicked: () => mistakes.inc(),
        active: (count) => workers.set(count),
      };
    },
    queue(name): QueueObserver {
      const labels = { name, controller: name };
      const queueAdds = adds.labels(labels);
      const queueRetries = retries.labels(labels);
      const wait = waits.labels(labels);
      const work = works.labels(labels);
      return {
        watched: (state) => watchQueue(name, state),
        added: () => queueAdds.inc(),
        taken: (waitedMs) => wait.observe(waitedMs / 1000),
        finished: (workedMs) => work.observe(workedMs / 1000),
        retried: () => queueRetries.inc(),
      };
    },
    gauge(name, help, labelNames, read) {
      const own = new prom.Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers,
        collect: () => {
          own.reset();
          for (const { labels, value } of read()) own.set(labels, value);
        },
      });
    },
    request: (method, host, code) => requests.inc({ code, method, host }),
    leader: (name, is) => leading.set({ name }, is ? 1 : 0),
    webhook: (path) => {
      inFlight.inc({ webhook: path });
      const began = options.clock.monotonic();
      return (code) => {
        latency.observe({ webhook: path }, (options.clock.monotonic() - began) / 1000);
        inFlight.dec({ webhook: path });
        webhooks.inc({ webhook: path, code: String(code) });
      };
    },
    certificate: (read) => (read ? certificates : certificateErrors).inc(),
    watchObjects: (cache) => observeObjects(prom.Gauge, registry, cache, subjects),
    text: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}
