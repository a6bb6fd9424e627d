import { type Condition, findCondition } from "@capstan/apimachinery";
import { headline, type OpenWork } from "@capstan/capi";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { Progress } from "./status.ts";

/** Returns what a control plane still has to do: start or reach its spec. Undefined if it is done or not supposed to run. */
export function openWork(
  object: HostedControlPlane,
  step: Progress["step"],
  conditions: readonly Condition[],
): OpenWork | undefined {
  if (step !== "waiting" && step !== "running") return undefined;
  const open = ["Available", "UpToDate"]
    .map((type) => findCondition(conditions, type))
    .find((condition) => condition?.status === "False");
  if (open === undefined) return undefined;
  const cluster = object.metadata.ownerReferences?.find(({ kind }) => kind === "Cluster")?.name;
  const { namespace, name } = object.metadata;
  const blocker = headline(open.message).replace(/^\* /, "") || open.reason;
  return {
    doing: open.type === "UpToDate" ? `Changing to ${object.spec.version}: ${blocker}` : blocker,
    progressAtMs: Date.parse(open.lastTransitionTime),
    blocker,
    nextStep: `see: ${cluster === undefined ? `kubectl describe hostedcontrolplane ${name}` : `capstan why ${cluster}`} -n ${namespace}`,
  };
}
