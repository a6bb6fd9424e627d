import { addOwnerReference, ownerReference } from "@capstan/apimachinery";
import { writeChanges } from "@capstan/runtime";
import type { OwnedScope } from "../scope.ts";

/** Makes the Cluster an owner of the infrastructure machines' template, so that it is moved and deleted with the Cluster. */
export async function ownTemplate({ infrastructure, cluster, context }: OwnedScope): Promise<void> {
  if (infrastructure.template.state !== "found") return;
  const { object } = infrastructure.template;
  if (object.metadata.deletionTimestamp !== undefined) return;
  const ownerReferences = [...addOwnerReference(object.metadata.ownerReferences, ownerReference(cluster))];
  await writeChanges(context.client, object, { ...object, metadata: { ...object.metadata, ownerReferences } });
}
