import type { Clock } from "@capstan/apimachinery";
import { type AnyKind, CustomResourceDefinition, type Provider, untilServed } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import type { ServedBy } from "./webhooks.ts";

/** A provider whose kinds are installed. */
type Installed = Pick<Provider, "kinds" | "sharedGroups">;

/** Applies the CRDs of all kinds of providers and waits until the API serves them; safe to repeat. */
export async function installKinds(
  providers: readonly Installed[],
  client: Client,
  clock: Clock,
  servedBy: ServedBy,
): Promise<void> {
  const kinds = providers.flatMap((provider) => provider.kinds);
  const shared = providers.flatMap(({ sharedGroups }) => sharedGroups ?? []);
  await Promise.all(kinds.map((kind) => installKind(kind, client, servedBy, shared.includes(kind.group))));
  await untilServed(kinds, client, clock);
  await Promise.all(servedBy.configurations.map((configuration) => client.apply(configuration)));
}

async function installKind(kind: AnyKind, client: Client, servedBy: ServedBy, shared: boolean): Promise<void> {
  const crd = servedBy.crdOf(kind);
  if (shared) {
    const live = await client.get(CustomResourceDefinition, { name: crd.metadata.name ?? "" });
    const ours = live?.metadata.managedFields?.some(({ manager }) => manager === client.fieldManager) ?? true;
    if (!ours) return;
  }
  await client.apply(crd);
}
