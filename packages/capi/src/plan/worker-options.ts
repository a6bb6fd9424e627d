import type { CombiningOption, ControlPlaneOption, ProviderDescription, WorkerOption } from "../sdk/description.ts";
import type { WorkerGroup } from "./cluster-plan.ts";

/** What providers offer to worker groups, by provider name; machines in memory come first, as they need nothing. */
export function workerOptions(providers: readonly ProviderDescription[]): ReadonlyMap<string, WorkerOption> {
  const offered = providers.flatMap(({ name, workers }): [string, WorkerOption][] =>
    workers === undefined ? [] : [[name, workers]],
  );
  const rank = ([, { inMemory }]: [string, WorkerOption]): number => (inMemory === true ? 0 : 1);
  return new Map(offered.sort((a, b) => rank(a) - rank(b)));
}

/** What the provider of a worker group offers; throws for a provider that is not among these. */
export function workerOption(name: string, providers: readonly ProviderDescription[]): WorkerOption {
  const option = providers.find((provider) => provider.name === name)?.workers;
  if (option === undefined) throw new Error(`no provider ${name} offers workers`);
  return option;
}

/** What providers offer as control planes, by name; those that need no machines come first. */
export function controlPlaneOptions(
  providers: readonly ProviderDescription[],
): ReadonlyMap<string, ControlPlaneOption> {
  const offered = providers.flatMap(({ controlPlane }) => controlPlane ?? []);
  const rank = ({ onMachines }: ControlPlaneOption): number => (onMachines === true ? 1 : 0);
  return new Map(offered.sort((a, b) => rank(a) - rank(b)).map((option) => [option.name, option]));
}

/** The control plane of this name, or the one that needs no machines; throws if no provider offers it. */
export function controlPlaneOption(providers: readonly ProviderDescription[], name?: string): ControlPlaneOption {
  const options = controlPlaneOptions(providers);
  const option = name === undefined ? [...options.values()].at(0) : options.get(name);
  if (option === undefined)
    throw new Error(`no provider offers a control plane${name === undefined ? "" : ` ${name}`}`);
  return option;
}

/** What a provider offers as control planes of a kind; undefined for the kind of another project. */
export function controlPlaneOfKind(
  kind: string,
  providers: readonly ProviderDescription[],
): ControlPlaneOption | undefined {
  return providers.find(({ controlPlane }) => controlPlane?.kind === kind)?.controlPlane;
}

/** What combines several providers in one cluster; throws if no provider does. */
export function combiningOption(providers: readonly ProviderDescription[]): CombiningOption {
  const option = providers.find(({ combines }) => combines !== undefined)?.combines;
  if (option === undefined) throw new Error("no provider combines the machines of several providers in one cluster");
  return option;
}

/** Whether a cluster has workers, and all of them exist in memory only. */
export function onlyInMemory(
  workers: readonly Pick<WorkerGroup, "provider">[],
  providers: readonly ProviderDescription[],
): boolean {
  return workers.length > 0 && workers.every(({ provider }) => workerOption(provider, providers).inMemory === true);
}

/** What will probably fail in these groups, in one sentence each. */
export function planWarnings(
  groups: readonly Pick<WorkerGroup, "name" | "provider" | "settings">[],
  providers: readonly ProviderDescription[],
): string[] {
  return groups.flatMap(({ name, provider, settings }) => {
    const warning = workerOption(provider, providers).warning?.(settings);
    return warning === undefined ? [] : [`${name}: ${warning}`];
  });
}
