import type { ControlPlanePlan } from "../placement.ts";
import { PodsProblem } from "./host.ts";
import { authorityOf } from "./inputs.ts";
import type { PodsInput } from "./objects.ts";
import type { PodsRecord } from "./record.ts";

/** Throws if the data belongs to an earlier control plane of the same name. After a move, a control plane is recognized by its CA. */
export function refuseForeignData(plan: ControlPlanePlan, known: PodsRecord | undefined): void {
  if (known === undefined || known.objectUid === plan.objectUid || known.authority === authorityOf(plan)) return;
  throw new PodsProblem(
    "LeftoverData",
    `The host cluster holds the data of another control plane of that name (uid ${known.objectUid}); choose another name, or delete the StatefulSet, its PersistentVolumeClaims and all other objects with the label capstan.dev/hosted there`,
  );
}

/** Throws if a control plane has served before but its data is missing, instead of starting with empty data. */
export function refuseToBeginAnew(plan: ControlPlanePlan, known: PodsRecord | undefined): void {
  if (known !== undefined || plan.initialized !== true || plan.restore !== undefined) return;
  throw new PodsProblem(
    "DataLost",
    "The host cluster has no data of this control plane, which has served before; set spec.hostCluster back to the cluster that holds its data, or spec.etcd.restoreFrom to a backup",
  );
}

/** Returns which immutable storage settings the spec tries to change, or undefined. */
export function fixedProblem({ plan, record }: PodsInput): { reason: string; message: string } | undefined {
  const wanted = plan.spec.etcd?.storage ?? {};
  const same = (["type", "size", "storageClassName"] as const).every((key) => wanted[key] === record.storage[key]);
  if (same) return undefined;
  return {
    reason: "StorageFixed",
    message: `the volumes of etcd cannot be changed (${JSON.stringify(record.storage)}); set spec.etcd.storage back, or create a new control plane`,
  };
}
