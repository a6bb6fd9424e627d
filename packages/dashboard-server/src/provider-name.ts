import type { ProviderDescription } from "@capstan/capi";
import type { KindRef } from "@capstan/runtime";

/** A provider as the dashboard's server knows it: what it is for people, and the kinds that it serves. */
export type ShownProvider = ProviderDescription & { readonly kinds: readonly Pick<KindRef, "kind">[] };

/** Returns the short name of a kind's provider; for providers that are not loaded it follows from the kind: `AWSMachine` is `aws`. */
export function providerName(kind: string, providers: readonly ShownProvider[]): string {
  const known = providers.find(({ kinds }) => kinds.some((own) => own.kind === kind));
  if (known !== undefined) return known.name;
  return kind
    .replace(/(ClusterTemplate|MachineTemplate|MachinePoolTemplate|MachinePool|Cluster|Machine|Host)$/, "")
    .toLowerCase();
}
