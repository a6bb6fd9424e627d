import type { CapacitySource, Cluster, KubeadmControlPlane } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";

/** How many Machines the control plane's infrastructure can provide now; undefined if its provider does not report that. */
export function freeMachines(
  { metadata, spec }: KubeadmControlPlane,
  cluster: Cluster,
  sources: readonly CapacitySource[],
  cache: Cache,
  nowMs: number,
): number | undefined {
  const { apiGroup, kind, name } = spec.machineTemplate.spec.infrastructureRef;
  const source = sources.find(({ template }) => template.kind === kind && template.group === apiGroup);
  if (source === undefined) return undefined;
  const template = { namespace: metadata.namespace ?? "", name };
  return source.free({ template, cluster, version: spec.version, failureDomain: undefined }, cache, nowMs);
}
