import type { OwnerReference, Unstructured } from "@capstan/apimachinery";
import type { ReconcileContext } from "@capstan/runtime";
import type { ContractObject } from "../contract/builtin-kinds.ts";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";

/** Applies owners and the label of the Cluster to an object that another one refers to, unless it is being deleted. */
export async function adopt(
  context: ReconcileContext,
  object: ContractObject,
  clusterName: string,
  ownerReferences: OwnerReference[],
): Promise<void> {
  if (object.metadata.deletionTimestamp !== undefined) return;
  const { name = "", namespace } = object.metadata;
  const desired: Unstructured = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: { name, namespace, labels: { [CLUSTER_NAME_LABEL]: clusterName }, ownerReferences },
  };
  await context.client.ensure(desired, object);
}
