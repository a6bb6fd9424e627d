import {
  type ClusterPlan,
  hostKindOf,
  type MissingVersion,
  machineGroups,
  missingVersion,
  type Shortage,
  shortages,
  shortageText,
} from "@capstan/capi";
import { kindRef } from "@capstan/runtime";
import { UserError } from "../command.ts";
import type { ApiTarget } from "../context/api-target.ts";
import type { Providers } from "../providers.ts";

/** The Kubernetes versions that are installed on this machine. */
export interface InstalledHere {
  readonly versions: readonly string[];
  /** Flags with which a suggested command selects the same instance. */
  readonly flags: string;
}

/** Throws when the binaries that the control plane would run are not installed on this machine. */
export function checkInstalled(plan: ClusterPlan, target: Pick<ApiTarget, "dataDir">, installed: InstalledHere): void {
  const missing = missingHere(plan, target, installed);
  if (missing === undefined) return;
  throw new UserError(`${missing.problem}; nothing was created`, { hint: missing.command });
}

/** Returns the Kubernetes version that must be installed on this machine for the control plane to start, if any. */
export function missingHere(
  plan: Pick<ClusterPlan, "version" | "placement" | "controlPlane">,
  { dataDir }: Pick<ApiTarget, "dataDir">,
  { versions, flags }: InstalledHere,
): MissingVersion | undefined {
  // On another machine only the manager knows its installed versions.
  if (dataDir === undefined) return undefined;
  const missing = missingVersion(plan, { placement: "Process", versions, where: "this machine" });
  return missing === undefined ? undefined : { ...missing, command: `${missing.command}${flags}` };
}

/** Throws when fewer matching hosts are free than the worker groups need. */
export async function checkCapacity(plan: ClusterPlan, target: ApiTarget, providers: Providers): Promise<void> {
  const missing = await shortagesAt(plan, target, providers);
  if (missing.length === 0) return;
  throw new UserError(`${missing.map(shortageText).join("; ")}; nothing was created`, {
    hint: `${[...new Set(missing.map(cureText))].join("; ")}; or let its machines wait for hosts: add --wait-for-capacity`,
  });
}

/** Returns the worker groups of a plan for which too few matching hosts are free. */
export async function shortagesAt(
  plan: ClusterPlan,
  { client }: Pick<ApiTarget, "client">,
  providers: Providers,
): Promise<Shortage[]> {
  const kinds = new Map(
    machineGroups(plan)
      .flatMap((group) => hostKindOf(group, providers) ?? [])
      .map((kind) => [kind.kind, kind]),
  );
  const lists = await Promise.all(
    [...kinds.values()].map(async (kind) =>
      (await client.list(kindRef({ ...kind, namespaced: true }), { namespace: plan.namespace })).items.map((host) => ({
        ...host,
        kind: kind.kind,
      })),
    ),
  );
  return shortages(plan, lists.flat(), providers);
}

/** Returns how the user can resolve a shortage of hosts. */
export function cureText({ cure, command }: Pick<Shortage, "cure" | "command">): string {
  return command === undefined ? cure : `${cure}: ${command}`;
}
