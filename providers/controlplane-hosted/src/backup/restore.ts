import type { DialGate } from "@capstan/apimachinery/foreign";
import { backupTimeMs } from "@capstan/backup";
import type { ReconcileContext } from "@capstan/runtime";
import type { HostedControlPlane } from "../kinds/hosted-control-plane.ts";
import { backupStore } from "./backups.ts";
import { type ControlPlaneDescription, parseDescription } from "./description.ts";

/** A backup that a control plane is restored from. */
export interface RestoreSource {
  /** Unique for the backup: restored once, not again. */
  name: string;
  description: ControlPlaneDescription;
  snapshotFile(): Promise<string>;
  release(): Promise<void>;
}

/** Finds the backup of `spec.etcd.restoreFrom`; undefined if none is set. Only backups of the same namespace can be used. */
export async function restoreSource(
  object: HostedControlPlane,
  backups: { dir: string; gate: DialGate } | undefined,
  context: ReconcileContext,
): Promise<RestoreSource | { problem: string } | undefined> {
  const from = object.spec.etcd?.restoreFrom;
  if (from === undefined) return undefined;
  if (backups === undefined) return { problem: "spec.etcd.restoreFrom: this manager has no backup store" };
  if (backupTimeMs(from.backup) === undefined)
    return { problem: `spec.etcd.restoreFrom.backup: ${from.backup} is not a name like 20261116T030000Z` };
  // A path to another namespace would give access to another tenant's keys.
  if (from.controlPlane?.includes("/") === true)
    return { problem: `spec.etcd.restoreFrom.controlPlane: ${from.controlPlane} is not a name of this namespace` };
  const store = await backupStore(object, backups, context);
  if ("problem" in store) return store;
  const owner = `${object.metadata.namespace}/${from.controlPlane ?? object.metadata.name}`;
  let description: ControlPlaneDescription;
  try {
    description = parseDescription(await store.description(owner, from.backup));
  } catch (error) {
    const have = (await store.list(owner).catch(() => [])).map((backup) => backup.name);
    const choice = have.length === 0 ? "there are none" : `there are ${have.slice(-10).join(", ")}`;
    const why =
      (error as NodeJS.ErrnoException).code === "ENOENT"
        ? ""
        : ` (${error instanceof SyntaxError ? "its description is not JSON" : String(error)})`;
    return { problem: `spec.etcd.restoreFrom: no backup ${from.backup} of ${owner}${why}; ${choice}` };
  }
  let fetched: { file: string; release(): Promise<void> } | undefined;
  return {
    name: `${owner}/${from.backup}`,
    description,
    snapshotFile: async () => {
      fetched = await store.snapshot(owner, from.backup);
      return fetched.file;
    },
    release: async () => await fetched?.release(),
  };
}
