import { controllerOf } from "@capstan/apimachinery";
import { Machine, MachineDeployment, type WorkerPool } from "@capstan/capi";
import type { Cache, ReconcileContext } from "@capstan/runtime";
import { deploymentName, MACHINES_BY_DEPLOYMENT } from "./names.ts";
import { countUpToDate, isAvailable, type MemberObservation } from "./observe.ts";
import type { PoolPlan } from "./plan.ts";

/** Returns the MachineDeployments of members that were removed from the spec. */
export function formerMembers(pool: WorkerPool, cache: Cache): MachineDeployment[] {
  const wanted = new Set(pool.spec.members.map((member) => deploymentName(pool, member.name)));
  return cache
    .list(MachineDeployment, { namespace: pool.metadata.namespace })
    .filter(
      (deployment) =>
        controllerOf(deployment)?.uid === pool.metadata.uid &&
        !wanted.has(deployment.metadata.name ?? "") &&
        deployment.metadata.deletionTimestamp === undefined,
    );
}

/** Observes a removed member, which keeps its Machines for now and gets no more. */
export function observeFormer(deployment: MachineDeployment, cache: Cache): MemberObservation {
  const { namespace = "", name = "" } = deployment.metadata;
  const living = cache
    .byIndex(Machine, MACHINES_BY_DEPLOYMENT, `${namespace}/${name}`)
    .filter((machine) => machine.metadata.deletionTimestamp === undefined);
  const waiting = living.filter((machine) => !isAvailable(machine));
  const available = living.length - waiting.length;
  return {
    // Names of members have no slash.
    name: `left/${name}`,
    leaving: true,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    cost: 0,
    weight: 0,
    current: Math.min(deployment.spec.replicas ?? 0, available),
    available,
    health: "Good",
    reason: "",
    message: "",
    expendable: waiting,
    upToDate: countUpToDate(living),
  };
}

/** Scales removed members down as their Machines are replaced, and deletes them with the last one. */
export async function shrinkFormer(
  former: readonly MachineDeployment[],
  plan: PoolPlan,
  context: ReconcileContext,
): Promise<void> {
  for (const deployment of former) {
    const replicas = plan.members.find(({ name }) => name === `left/${deployment.metadata.name}`)?.desired ?? 0;
    if (replicas === 0) await context.client.delete(deployment);
    else if (deployment.spec.replicas !== replicas) await context.client.patch(deployment, { spec: { replicas } });
  }
}
