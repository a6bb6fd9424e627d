import type { ControlPlanePlan } from "../placement.ts";
import { PodsProblem } from "./host.ts";
import { authorityOf } from "./inputs.ts";
import type { PodsInput } from "./objects.ts";
import type { PodsRecord } from "./record.ts";

/** Data of an earlier control plane of that name is not taken for this one's; the same one after a move is known by its authority. */
export function refuseForeignData(plan: ControlPlanePlan, known: PodsRecord | undefined): void {
  if (known === undefined || known.objectUid === plan.objectUid || known.authority === authorityOf(plan)) return;
  throw new PodsProblem(
    "LeftoverData",
    `The host cluster holds the data of another control plane of that name (uid ${known.objectUid}); choose another name, or delete the StatefulSet, its PersistentVolumeClaims and what else carries the label capstan.dev/hosted there`,
  );
}

/** Where a control plane has served before and nothing is known of it, its data lies elsewhere or is gone. */
export function refuseToBeginAnew(plan: ControlPlanePlan, known: PodsRecord | undefined): void {
  if (known !== undefined || plan.initialized !== true || plan.restore !== undefined) return;
  throw new PodsProblem(
    "DataLost",
    "The host cluster knows nothing of this control plane, which has served before; set spec.hostCluster back to the cluster that holds its data, or spec.etcd.restoreFrom to a backup",
  );
}

/** What the spec asks for and cannot be had any more. */
export function fixedProblem({ plan, record }: PodsInput): { reason: string; message: string } | undefined {
  const wanted = plan.spec.etcd?.storage ?? {};
  const same = (["type", "size", "storageClassName"] as const).every((key) => wanted[key] === record.storage[key]);
  if (same) return undefined;
  return {
    reason: "StorageFixed",
    message: `etcd's volumes stay as they were made (${JSON.stringify(record.storage)}); set spec.etcd.storage back, or make a new control plane`,
  };
}
