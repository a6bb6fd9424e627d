import { formatAge, type KubeObject } from "@capstan/apimachinery";
import { kindRef } from "@capstan/runtime";
import { type CommandInput, INTERRUPTED, usageError } from "../command.ts";
import { type ApiTarget, clockOf } from "../context/api-target.ts";
import { clusterNames, noSuchCluster, withTarget } from "../context/with-cluster.ts";
import { Cluster } from "../kinds/kinds.ts";
import { textOption } from "../options.ts";
import { parseOutput } from "../output/output.ts";
import { columns, columnWidths } from "../output/table.ts";
import { providersOf } from "../providers.ts";
import { readClusterTree, type TreeOptions } from "../tree/cluster-tree.ts";
import type { TreeObject } from "../tree/tree-object.ts";

interface Event extends KubeObject {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  firstTimestamp?: string | null;
  lastTimestamp?: string | null;
  eventTime?: string | null;
  series?: { count?: number; lastObservedTime?: string };
  involvedObject?: { kind?: string; name?: string };
}

const Event = kindRef<Event>({ group: "", version: "v1", kind: "Event", plural: "events", namespaced: true });
const HEADERS = ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"];

/** Runs `capstan events`: lists the Events of every object that belongs to a cluster, and watches for new ones with --watch. */
export function runEvents(input: CommandInput): Promise<number> {
  const format = parseOutput(textOption(input, "output"));
  if (format.type === "name") throw usageError("-o: json or yaml");
  return withTarget(input, async (target) => {
    const { namespace, name } = clusterNames(input);
    const options = { nowMs: clockOf(input).now(), providers: await providersOf(input) };
    let parts = await partsOf(target, namespace, name, options);
    if (parts === undefined) throw noSuchCluster(target, namespace, name);
    const types = textOption(input, "types")?.split(",");
    const concerns = (event: Event): boolean =>
      parts?.has(`${event.involvedObject?.kind}/${event.involvedObject?.name}`) === true &&
      (types === undefined || types.includes(event.type ?? ""));
    const { items, resourceVersion } = await target.client.list(Event, { namespace });
    const shown = items.filter(concerns).sort((a, b) => seenAt(a) - seenAt(b));
    if (format.type === "text") {
      input.io.out(format.render({ apiVersion: "v1", items: shown, kind: "List", metadata: { resourceVersion: "" } }));
      return 0;
    }
    const row = (event: Event): string[] => rowOf(event, clockOf(input).now());
    const rows = [HEADERS, ...shown.map(row)];
    const widths = columnWidths(rows);
    if (shown.length > 0) input.io.out(`${columns(rows).join("\n")}\n`);
    else input.io.err(`No events of cluster ${namespace}/${name}.\n`);
    if (input.options["watch"] !== true) return 0;
    const signal = input.io.interrupted?.();
    for await (const { type, object } of target.client.watch(Event, { namespace, resourceVersion }, signal)) {
      if (type !== "ADDED" && type !== "MODIFIED") continue;
      // Includes parts that were created since the last poll.
      if (!concerns(object)) parts = (await partsOf(target, namespace, name, options)) ?? parts;
      if (concerns(object)) input.io.out(`${columns([row(object)], widths).join("\n")}\n`);
    }
    return signal?.aborted === true ? INTERRUPTED : 0;
  });
}

/** Names of everything a cluster is made of, as `Kind/name`. */
async function partsOf(
  target: ApiTarget,
  namespace: string,
  name: string,
  options: TreeOptions,
): Promise<Set<string> | undefined> {
  const tree = await readClusterTree(target.client, namespace, name, { ...options, machineSets: true });
  if (tree === undefined) return undefined;
  const parts = new Set<string>([`${Cluster.kind}/${name}`]);
  const visit = (node: TreeObject): void => {
    parts.add(`${node.kind}/${node.name}`);
    node.children.forEach(visit);
  };
  visit(tree);
  return parts;
}

function seenAt(event: Event): number {
  const time =
    event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime ?? event.metadata.creationTimestamp;
  return time === undefined || time === null ? 0 : Date.parse(time);
}

function rowOf(event: Event, nowMs: number): string[] {
  const count = event.series?.count ?? event.count ?? 1;
  const seen = `${formatAge(nowMs - seenAt(event))}${count > 1 ? ` (x${count})` : ""}`;
  const object = `${event.involvedObject?.kind?.toLowerCase() ?? ""}/${event.involvedObject?.name ?? ""}`;
  const message = (event.message ?? "").replaceAll("\n", " ");
  return [seen, event.type ?? "", event.reason ?? "", object, message];
}
