import type { Clock } from "@capstan/apimachinery";
import type { WatchSink, WatchStream } from "../registry/watch.ts";
import type { RequestObserver } from "../server/pipeline.ts";
import { durationSamples, type RequestSeries, RequestSeriesMap, record } from "./request-series.ts";
import { familyText, labelText, type Sample } from "./text-format.ts";

/** Content type of the answer at /metrics. */
export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Number of stored objects of a resource. */
export interface ObjectCount {
  readonly group: string;
  readonly resource: string;
  readonly count: number;
}

/** Counts requests under the names kube-apiserver uses. */
export interface ServerMetrics {
  readonly observer: RequestObserver;
  /** The document at /metrics. */
  text(): string;
}

const READ_ONLY = new Set(["get", "list", "watch"]);

/** Metrics of one server. Counting is a few additions per request; the text is rendered on request. */
export function createMetrics(deps: { clock: Clock; objects(): Iterable<ObjectCount> }): ServerMetrics {
  const { clock } = deps;
  const startedMs = clock.now();
  const series = new RequestSeriesMap();
  const inflight = { mutating: 0, readOnly: 0 };
  return {
    observer: {
      begin(call, attributes) {
        const entry = series.of(attributes, call.query.get("dryRun") !== null);
        const kind = READ_ONLY.has(attributes.verb) ? "readOnly" : "mutating";
        const start = clock.monotonic();
        inflight[kind]++;
        return (reply) => {
          inflight[kind]--;
          record(entry, reply.status, (clock.monotonic() - start) / 1000);
          if (reply.body.type === "watch") observeWatch(reply.body.stream, entry);
        };
      },
    },
    text: () =>
      [...requestFamilies(series, inflight), ...objectFamilies(deps.objects()), ...processFamilies(startedMs)].join(""),
  };
}

/** Counts a watch as running from its start to its end, and the events it sends. */
function observeWatch(stream: WatchStream, entry: RequestSeries): void {
  const start = stream.start.bind(stream);
  stream.start = (sink) => {
    let running = true;
    entry.running++;
    const over = (): void => {
      if (running) entry.running--;
      running = false;
    };
    const counted: WatchSink = {
      send: (events) => {
        entry.watchEvents += events.length;
        sink.send(events);
      },
      end: () => {
        over();
        sink.end();
      },
    };
    const stop = start(counted);
    return () => {
      over();
      stop();
    };
  };
}

function requestFamilies(series: RequestSeriesMap, inflight: Readonly<Record<string, number>>): string[] {
  const all = [...series.values()];
  const watches = all.filter(({ labels }) => labels["verb"] === "WATCH");
  return [
    familyText(
      "apiserver_request_total",
      "counter",
      "Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.",
      all.flatMap(({ text, codes }) =>
        [...codes].map(([code, count]): Sample => ["", `code="${code}",${text}`, count]),
      ),
    ),
    familyText(
      "apiserver_request_duration_seconds",
      "histogram",
      "Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.",
      all.filter(({ labels }) => labels["verb"] !== "WATCH").flatMap((entry) => [...durationSamples(entry)]),
    ),
    familyText(
      "apiserver_current_inflight_requests",
      "gauge",
      "Number of requests that are being served at the moment, per request kind.",
      Object.entries(inflight).map(([kind, count]): Sample => ["", `request_kind="${kind}"`, count]),
    ),
    familyText(
      "apiserver_longrunning_requests",
      "gauge",
      "Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component.",
      sumBy(watches, ["component", "group", "resource", "scope", "subresource", "verb", "version"], (w) => w.running),
    ),
    familyText(
      "apiserver_watch_events_total",
      "counter",
      "Number of events sent in watch clients",
      sumBy(watches, ["group", "resource", "version"], (w) => w.watchEvents),
    ),
  ];
}

/** Sums over series that differ only in other labels. */
function sumBy(
  series: readonly RequestSeries[],
  names: readonly string[],
  value: (s: RequestSeries) => number,
): Sample[] {
  const sums = new Map<string, number>();
  for (const entry of series) {
    const text = labelText(Object.fromEntries(names.map((name) => [name, entry.labels[name] ?? ""])));
    sums.set(text, (sums.get(text) ?? 0) + value(entry));
  }
  return [...sums].map(([text, sum]): Sample => ["", text, sum]);
}

function objectFamilies(objects: Iterable<ObjectCount>): string[] {
  const counts = [...objects];
  const help = "Number of stored objects at the time of last check split by kind.";
  return [
    familyText(
      "apiserver_storage_objects",
      "gauge",
      help,
      counts.map(({ group, resource, count }): Sample => {
        const name = group === "" ? resource : `${resource}.${group}`;
        return ["", labelText({ resource: name }), count];
      }),
    ),
    familyText(
      "apiserver_resource_objects",
      "gauge",
      help,
      counts.map(({ group, resource, count }): Sample => ["", labelText({ group, resource }), count]),
    ),
  ];
}

function processFamilies(startedMs: number): string[] {
  const cpu = process.cpuUsage();
  const gauge = (name: string, help: string, value: number): string =>
    familyText(name, "gauge", help, [["", "", value]]);
  return [
    familyText("process_cpu_seconds_total", "counter", "Total user and system CPU time spent in seconds.", [
      ["", "", (cpu.user + cpu.system) / 1e6],
    ]),
    gauge("process_resident_memory_bytes", "Resident memory size in bytes.", process.memoryUsage.rss()),
    gauge(
      "process_start_time_seconds",
      "Start time of the process since unix epoch in seconds.",
      Math.round(startedMs / 1000),
    ),
  ];
}
