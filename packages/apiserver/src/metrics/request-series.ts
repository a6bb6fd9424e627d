import type { RequestAttributes } from "../types.ts";
import { type Labels, labelText, type Sample } from "./text-format.ts";

/** Upper bounds in seconds, those of kube-apiserver. */
const DURATION_BUCKETS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const;

/** Invented resource names must not fill the memory: series beyond this are counted under one. */
const MAX_SERIES = 2000;

const VERBS: Readonly<Record<string, string>> = { create: "POST", update: "PUT" };
const PATHS = ["/healthz", "/livez", "/readyz", "/version", "/metrics", "/openapi/v2", "/openapi/v3", "/apis", "/api"];

/** What is counted about requests of one kind. */
export interface RequestSeries {
  readonly labels: Labels;
  /** The labels, rendered once. */
  readonly text: string;
  readonly codes: Map<number, number>;
  /** Requests per bucket, the last for slower ones. */
  readonly buckets: number[];
  sum: number;
  count: number;
  running: number;
  watchEvents: number;
}

/** Series by their labels; plain numbers, rendered only when they are read. */
export class RequestSeriesMap {
  readonly #series = new Map<string, RequestSeries>();

  of(request: RequestAttributes, dryRun: boolean): RequestSeries {
    const { verb, group, version, resource, subresource } = request;
    const scope = scopeOf(request);
    const path = request.isResource ? "" : pathOf(request.path);
    const key = `${verb} ${group}/${version}/${resource}/${subresource}${path} ${scope}${dryRun ? " dry" : ""}`;
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= MAX_SERIES) return this.#other();
    return this.#add(key, {
      component: request.isResource ? "apiserver" : "",
      dry_run: dryRun ? "All" : "",
      group,
      resource,
      scope,
      subresource: request.isResource ? subresource : path,
      verb: VERBS[verb] ?? verb.toUpperCase(),
      version,
    });
  }

  values(): Iterable<RequestSeries> {
    return this.#series.values();
  }

  #other(): RequestSeries {
    const labels = {
      component: "apiserver",
      dry_run: "",
      group: "",
      resource: "other",
      scope: "",
      subresource: "",
      verb: "other",
      version: "",
    };
    return this.#series.get("other") ?? this.#add("other", labels);
  }

  #add(key: string, labels: Labels): RequestSeries {
    const buckets = Array.from({ length: DURATION_BUCKETS.length + 1 }, () => 0);
    const counts = { sum: 0, count: 0, running: 0, watchEvents: 0 };
    const made = { labels, text: labelText(labels), codes: new Map<number, number>(), buckets, ...counts };
    this.#series.set(key, made);
    return made;
  }
}

/** Counts one finished request. */
export function record(series: RequestSeries, code: number, seconds: number): void {
  series.codes.set(code, (series.codes.get(code) ?? 0) + 1);
  let bucket = 0;
  while (bucket < DURATION_BUCKETS.length && seconds > (DURATION_BUCKETS[bucket] ?? 0)) bucket++;
  series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
  series.sum += seconds;
  series.count++;
}

/** The histogram's samples of one series. */
export function* durationSamples(series: RequestSeries): Generator<Sample> {
  let total = 0;
  for (let i = 0; i < series.buckets.length; i++) {
    total += series.buckets[i] ?? 0;
    yield ["_bucket", `${series.text},le="${DURATION_BUCKETS[i] ?? "+Inf"}"`, total];
  }
  yield ["_sum", series.text, series.sum];
  yield ["_count", series.text, series.count];
}

function scopeOf(request: RequestAttributes): string {
  if (!request.isResource) return "";
  if (request.name !== "") return "resource";
  return request.namespace === "" ? "cluster" : "namespace";
}

/** Only paths that exist: all others share one label. */
function pathOf(path: string): string {
  return PATHS.find((known) => path === known || path.startsWith(`${known}/`)) ?? "/";
}
