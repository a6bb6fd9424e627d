import {
  type ClusterPlan,
  hostKindOf,
  type MissingVersion,
  missingVersion,
  type Shortage,
  shortages,
  shortageText,
} from "@capstan/capi";
import type { ApiTarget } from "../api-target.ts";
import { UserError } from "../command.ts";

/** Where a control plane's programs are looked for, and which versions are there. */
export interface InstalledHere {
  readonly versions: readonly string[];
  /** Flags that a command needs to mean the same instance. */
  readonly flags: string;
}

/** Refuses a cluster whose control plane could never start: its programs are not on this machine. */
export function checkInstalled(plan: ClusterPlan, target: Pick<ApiTarget, "dataDir">, installed: InstalledHere): void {
  const missing = missingHere(plan, target, installed);
  if (missing === undefined) return;
  throw new UserError(`${missing.problem}; nothing was created`, { hint: missing.command });
}

/** The version whose programs are not on this machine, if a control plane of this plan needs them here. */
export function missingHere(
  plan: Pick<ClusterPlan, "version" | "placement">,
  { dataDir }: Pick<ApiTarget, "dataDir">,
  { versions, flags }: InstalledHere,
): MissingVersion | undefined {
  // Elsewhere it is the manager that knows.
  if (dataDir === undefined) return undefined;
  const missing = missingVersion(plan, { placement: "Process", versions, where: "this machine" });
  return missing === undefined ? undefined : { ...missing, command: `${missing.command}${flags}` };
}

/** Refuses a cluster that would wait for hosts, unless that is wanted. */
export async function checkCapacity(plan: ClusterPlan, target: ApiTarget): Promise<void> {
  const missing = await shortagesAt(plan, target);
  if (missing.length === 0) return;
  throw new UserError(`${missing.map(shortageText).join("; ")}; nothing was created`, {
    hint: `${[...new Set(missing.map(cureText))].join("; ")}; or let its machines wait for hosts: add --wait-for-capacity`,
  });
}

/** Groups of a plan that would wait for hosts. */
export async function shortagesAt(plan: ClusterPlan, { client }: Pick<ApiTarget, "client">): Promise<Shortage[]> {
  const kinds = new Map(plan.workers.flatMap((group) => hostKindOf(group) ?? []).map((kind) => [kind.kind, kind]));
  const lists = await Promise.all(
    [...kinds.values()].map(
      async (kind) => (await client.list(await client.kindOf(kind), { namespace: plan.namespace })).items,
    ),
  );
  return shortages(plan, lists.flat());
}

/** What a person does about a shortage. */
export function cureText({ cure, command }: Pick<Shortage, "cure" | "command">): string {
  return command === undefined ? cure : `${cure}: ${command}`;
}
