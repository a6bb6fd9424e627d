import type { HostKind, ProviderDescription } from "../sdk/description.ts";

/** The kinds of hosts that providers choose from. */
export function hostKinds(providers: readonly Pick<ProviderDescription, "hosts">[]): HostKind[] {
  return providers.flatMap(({ hosts }) => hosts ?? []);
}

/** Whether a kind is named like hosts are: a machine that exists before any Machine uses it. */
export function isHostKind(kind: string): boolean {
  return kind.endsWith("Host");
}
