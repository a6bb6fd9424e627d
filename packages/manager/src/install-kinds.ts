import type { Clock } from "@capstan/apimachinery";
import { type AnyKind, CustomResourceDefinition, untilServed } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import type { ServedBy } from "./webhooks.ts";

/** Applies the CRDs of kinds and waits until the API serves them; safe to repeat. */
export async function installKinds(
  kinds: readonly AnyKind[],
  client: Client,
  clock: Clock,
  servedBy: ServedBy,
): Promise<void> {
  await Promise.all(kinds.map((kind) => installKind(kind, client, servedBy)));
  await untilServed(kinds, client, clock);
  await Promise.all(servedBy.configurations.map((configuration) => client.apply(configuration)));
}

/** Groups of kinds that upstream's operators serve as well: where theirs are, they stay, or fields we do not know would be lost. */
const SHARED_GROUPS: readonly string[] = ["metal3.io", "ipam.metal3.io"];

async function installKind(kind: AnyKind, client: Client, servedBy: ServedBy): Promise<void> {
  const crd = servedBy.crdOf(kind);
  if (SHARED_GROUPS.includes(kind.group)) {
    const live = await client.get(CustomResourceDefinition, { name: crd.metadata.name ?? "" });
    const ours = live?.metadata.managedFields?.some(({ manager }) => manager === client.fieldManager) ?? true;
    if (!ours) return;
  }
  await client.apply(crd);
}
