import type { Condition, KubeObject } from "@capstan/apimachinery";
import { conditionsOf } from "../contract/fields.ts";
import type { HostKind, ProviderDescription } from "../sdk/description.ts";
import { hostKinds, isHostKind } from "./host-kinds.ts";

/** The time at which objects are judged, and the providers that know their hosts. */
export interface NodeContext {
  readonly nowMs: number;
  readonly providers: readonly Pick<ProviderDescription, "hosts">[];
}

/** What its provider knows about the kind of an object; undefined unless it is a host of one of them. */
export function hostDescription(object: KubeObject, providers: NodeContext["providers"]): HostKind | undefined {
  if (!isHostKind(object.kind)) return undefined;
  return hostKinds(providers).find(({ kind }) => kind === object.kind);
}

/** The Ready condition of a host that is silent, in error, or could not become a node; undefined without such a problem. */
export function hostTrouble(host: KubeObject, { nowMs, providers }: NodeContext): Condition | undefined {
  return hostDescription(host, providers)?.trouble(host, nowMs);
}

/** The Ready condition that a host shows in place of its own, in the form that `HostKind.trouble` returns. */
export function notReady(
  status: "False" | "Unknown",
  reason: string,
  message: string,
  lastTransitionTime: string,
): Condition {
  return { type: "Ready", status, reason, message, lastTransitionTime };
}

/** The conditions to show for an object: those it reports, unless it is a host whose last report no longer holds. */
export function shownConditions(object: KubeObject, { nowMs, providers }: NodeContext): Condition[] {
  const kind = hostDescription(object, providers);
  const all = kind?.conditions?.(object) ?? conditionsOf(object as { status?: unknown });
  const trouble = kind?.trouble(object, nowMs);
  if (trouble === undefined) return all;
  const own = conditionsOf(object as { status?: unknown });
  return [trouble, ...own.filter(({ type }) => type !== "Ready" && type !== "AgentConnected")];
}
