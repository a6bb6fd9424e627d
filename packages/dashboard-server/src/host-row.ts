import { findCondition, type KubeObject } from "@capstan/apimachinery";
import { assess, hostDescription, hostTrouble, objectNode, simulatedHost } from "@capstan/capi";
import type { ShownContext, ViewKind } from "./cluster-item.ts";
import { shortState } from "./fleet-row.ts";
import type { HostRow } from "./protocol.ts";
import { providerName } from "./provider-name.ts";

/** Computes the current inventory row of a host: what its provider says of it, and what all objects have. */
export function hostRow(host: KubeObject, kind: ViewKind, context: ShownContext): HostRow {
  const { metadata } = host;
  const { nowMs, providers } = context;
  const node = objectNode(host, context);
  const { state: health } = assess(node, { nowMs, namespace: metadata.namespace ?? "", providers });
  const { ready, ...facts } = hostDescription(host, providers)?.row(host) ?? { state: "", addresses: [] };
  return {
    kind: kind.kind,
    apiVersion: `${kind.group}/${kind.version}`,
    plural: kind.plural,
    namespace: metadata.namespace ?? "",
    name: metadata.name ?? "",
    provider: providerName(kind.kind, providers),
    ...facts,
    ready: hostTrouble(host, context)?.status ?? ready ?? findCondition(node.conditions, "Ready")?.status ?? "Unknown",
    health: shortState(health),
    cluster: metadata.labels?.["cluster.x-k8s.io/cluster-name"],
    created: metadata.creationTimestamp ?? "",
    simulated: simulatedHost(host, providers),
  };
}
