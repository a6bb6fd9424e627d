import type { CapacitySource, Cluster, Machine, WorkerPool } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";

type Member = WorkerPool["spec"]["members"][number];

/** Everything that the free capacity of a member depends on. */
export interface RoomInput {
  member: Member;
  pool: WorkerPool;
  cluster: Cluster;
  /** Replicas of the member's MachineDeployment now. */
  current: number;
  /** Its machines that are not being deleted. */
  living: readonly Machine[];
}

/** Returns how many more Machines a member's provider can create, beyond those already requested; 0 if it does not report capacity. */
export function roomOf(input: RoomInput, sources: readonly CapacitySource[], cache: Cache, nowMs: number): number {
  const { member, pool, cluster, current, living } = input;
  const { apiGroup, kind, name } = member.infrastructureRef;
  const source = sources.find(({ template }) => template.kind === kind && template.group === apiGroup);
  if (source === undefined) return 0;
  const namespace = pool.metadata.namespace ?? "";
  const { version } = pool.spec.template.spec;
  const free = source.free(
    { template: { namespace, name }, cluster, version, failureDomain: member.failureDomain },
    cache,
    nowMs,
  );
  if (free === 0) return 0;
  // Requested machines take free capacity as soon as it exists.
  const unprovided = living.filter(
    ({ spec }) => !source.isProvided({ namespace, name: spec.infrastructureRef.name }, cache),
  );
  return Math.max(0, free - Math.max(0, current - living.length) - unprovided.length);
}
