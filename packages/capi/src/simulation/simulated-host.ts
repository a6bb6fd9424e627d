import type { KubeObject } from "@capstan/apimachinery";
import { hostDescription } from "../explain/host-trouble.ts";
import type { ProviderDescription, SimulatedHealth } from "../sdk/description.ts";

/** A host that exists in memory only, and how its fault is injected or cleared. */
export interface SimulatedHost {
  readonly health: SimulatedHealth;
  /** What breaking it does, such as `it stops reporting, and so does its Node`. */
  readonly effect: string;
  /** The merge patch that breaks it, or repairs a broken one. */
  readonly change: { readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> } };
}

/** What can be done to a host that exists in memory only; undefined for a real one. `broken` is the state that the change leads to. */
export function simulatedHost(
  host: KubeObject,
  providers: readonly Pick<ProviderDescription, "hosts">[],
  broken?: boolean,
): SimulatedHost | undefined {
  const { simulation } = hostDescription(host, providers) ?? {};
  const health = simulation?.health(host);
  if (simulation === undefined || health === undefined) return undefined;
  const annotations = simulation.annotations(broken ?? health === "well");
  return { health, effect: simulation.effect, change: { metadata: { annotations } } };
}
