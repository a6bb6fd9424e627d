import type { Machine } from "@capstan/capi";
import { SnapshotDamaged } from "@capstan/etcd";
import type { ReconcileContext } from "@capstan/runtime";
import { backupOwner, type MachinePlane, storeOf } from "../backup/machine-backups.ts";
import type { ControlPlaneRecovery } from "../kinds/control-plane-recovery.ts";
import type { KeptSnapshot } from "./kept-snapshots.ts";
import type { RecoveryDeps } from "./kubeadm-target.ts";
import { restoreScript } from "./restore-script.ts";
import { deleteRestoreSecret, ensureRestoreSecret, restoreSecretOf } from "./restore-secret.ts";
import type { ServedSnapshot } from "./snapshot-server.ts";
import { NotRestorable } from "./target.ts";

/** The snapshot that a recovery restores: on this machine, served to the first Machine, and named in the script that fetches it. */
export class PreparedSnapshot {
  readonly #recovery: ControlPlaneRecovery;
  readonly #plane: MachinePlane;
  readonly #deps: Pick<RecoveryDeps, "place" | "server" | "kept">;
  readonly #context: ReconcileContext;

  constructor(recovery: ControlPlaneRecovery, plane: MachinePlane, deps: RecoveryDeps, context: ReconcileContext) {
    this.#recovery = recovery;
    this.#plane = plane;
    this.#deps = deps;
    this.#context = context;
  }

  /** Does all that may fail because of the backup or the settings, and returns the snapshot's SHA-256. Nothing has been deleted before. */
  async verify(backup: string): Promise<string> {
    // The cheapest check first: a snapshot may take hours to fetch.
    this.#script({ url: "https://manager", caPem: "" }, "0");
    const { file, sha256 } = await this.#keep(backup);
    await this.#present(file, sha256, undefined);
    return sha256;
  }

  /** Serves the verified snapshot, again after a restart of the manager. */
  async serve(backup: string, verified: string | undefined, machine: Machine | undefined): Promise<void> {
    if (this.#deps.server.serves(this.#uid) && (await restoreSecretOf(this.#recovery, this.#context)) !== undefined)
      return;
    const { file, sha256 } = await this.#keep(backup);
    if (verified !== undefined && sha256 !== verified) {
      await this.#deps.kept.remove(this.#uid);
      throw new Error(
        `the snapshot of backup ${backup} has the SHA-256 ${sha256} now, and the one that was verified before the Machines were deleted has ${verified}: put that one back into the store`,
      );
    }
    await this.#present(file, sha256, machine);
  }

  /** Removes what only the recovery needed. */
  async cleanUp(): Promise<void> {
    await this.#deps.server.withdraw(this.#uid);
    await this.#deps.kept.remove(this.#uid);
    await deleteRestoreSecret(this.#recovery, this.#context);
  }

  async #keep(backup: string): Promise<KeptSnapshot> {
    let location = "the store";
    try {
      return await this.#deps.kept.keep(this.#uid, async () => {
        const store = await storeOf(this.#plane.key, this.#deps.place, this.#context);
        if ("problem" in store) throw new Error(store.problem);
        location = store.location;
        return await store.snapshot(backupOwner(this.#plane), backup);
      });
    } catch (error) {
      const what = `backup ${backup} in ${location}`;
      const why = error instanceof Error ? error.message : String(error);
      if (error instanceof SnapshotDamaged)
        throw new NotRestorable(`${what} is damaged: ${why}. Put a good copy of it there, or name another backup`);
      if (isMissing(error)) throw new NotRestorable(`${what} does not exist any more: name another backup`);
      throw new Error(
        `cannot fetch ${what}: ${why}. Correct that; or delete this ControlPlaneRecovery and create another one that names another backup`,
        { cause: error },
      );
    }
  }

  async #present(file: string, sha256: string, machine: Machine | undefined): Promise<void> {
    const source = await this.#publish(file, machine);
    await ensureRestoreSecret(this.#recovery, this.#script(source, sha256), this.#context);
  }

  /** At the address that a Machine knows already, or at a new one if there is none. */
  async #publish(file: string, machine: Machine | undefined): Promise<ServedSnapshot> {
    try {
      return await this.#deps.server.publish(this.#uid, file, machine !== undefined);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(
        machine === undefined
          ? `the snapshot cannot be served to a new Machine (${why})`
          : `the snapshot cannot be served where Machine ${machine.metadata.name ?? ""} fetches it (${why}); if that lasts, delete the Machine: it is created again`,
        { cause: error },
      );
    }
  }

  #script(source: ServedSnapshot, sha256: string): string {
    const { metadata, spec } = this.#plane.controlPlane;
    const dataDir = spec.kubeadmConfigSpec?.clusterConfiguration?.etcd?.local?.dataDir ?? "/var/lib/etcd";
    try {
      return restoreScript({ ...source, sha256, dataDir });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new NotRestorable(
        `etcd cannot be restored into the data directory of KubeadmControlPlane ${metadata.name ?? ""} (spec.kubeadmConfigSpec.clusterConfiguration.etcd.local.dataDir): ${why}. Choose one of letters, digits and the characters /._-`,
      );
    }
  }

  get #uid(): string {
    return this.#recovery.metadata.uid ?? "";
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
