import type { Clock } from "@capstan/apimachinery";
import type { Counter, Gauge, Registry } from "prom-client";

/** Registers the standard process metrics of Prometheus clients, computed at each scrape. */
export function observeProcess(
  prom: { Counter: typeof Counter; Gauge: typeof Gauge },
  registry: Registry,
  clock: Clock,
): void {
  const registers = [registry];
  const cpu: Counter = new prom.Counter({
    name: "process_cpu_seconds_total",
    help: "Total user and system CPU time spent in seconds.",
    registers,
    collect: () => {
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
    },
  });
  const memory: Gauge = new prom.Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    registers,
    collect: () => memory.set(process.memoryUsage.rss()),
  });
  const start = new prom.Gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process since unix epoch in seconds.",
    registers,
  });
  // Metrics are made as the first thing a program does.
  start.set(Math.round(clock.now() / 1000));
}
