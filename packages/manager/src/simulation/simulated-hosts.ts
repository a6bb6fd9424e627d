import type { Unstructured } from "@capstan/apimachinery";
import type { ProviderDescription } from "@capstan/capi";
import { PROVIDERS } from "../providers.ts";

/** Builds the objects of simulated hosts: so many of each provider, by its name. */
export function simulatedHosts(
  namespace: string,
  counts: Readonly<Record<string, number>>,
  providers: readonly Pick<ProviderDescription, "name" | "hosts">[] = PROVIDERS,
): Unstructured[] {
  return providers.flatMap(({ name, hosts = [] }) =>
    hosts.flatMap(({ simulation }) => simulation?.objects(namespace, counts[name] ?? 0) ?? []),
  );
}
