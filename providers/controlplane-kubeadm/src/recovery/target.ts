import type { RecoveryPlan } from "../kinds/control-plane-recovery.ts";
import type { Survey } from "./record.ts";

/** Thrown when data can never be restored as it is: trying again does not help, a person has to choose something else. */
export class NotRestorable extends Error {
  constructor(why: string) {
    super(why);
    this.name = "NotRestorable";
  }
}

/**
 * A control plane that data is recovered into. KubeadmControlPlanes have one; another kind of control plane can become the target of a
 * migration by implementing it. Every function can be repeated after a crash.
 */
export interface RecoveryTarget {
  /** Looks which members answer and which backups exist; changes nothing. */
  survey(): Promise<Survey>;
  /** Saves the data of the plan's member as a backup and returns its name. */
  save(plan: RecoveryPlan): Promise<string>;
  /** Keeps the control plane's own controller from changing Machines. */
  hold(): Promise<void>;
  /**
   * Fetches the backup, proves that it can be restored, and keeps it until `cleanUp`; returns its SHA-256. Machines are deleted only after it.
   * Rejects with NotRestorable if a person has to choose something else.
   */
  verify(backup: string): Promise<string>;
  /** Deletes the Machines except the new one; returns those that are still there. */
  remove(except: string | undefined): Promise<readonly string[]>;
  /** Name for the first Machine. */
  newName(): string;
  /** Creates the first Machine from a backup with this SHA-256, or completes it. */
  start(machine: string, backup: string, digest: string | undefined): Promise<void>;
  /** What the first Machine still waits for; undefined once its etcd and API serve. */
  waitsFor(machine: string): Promise<string | undefined>;
  /** Removes Nodes of Machines that are lost: the restored data still has them, and Machines that join may need their names. */
  removeLostNodes(): Promise<void>;
  /** Returns the Machines to the control plane's own controller. */
  release(): Promise<void>;
  /** What is missing to the desired replicas; undefined once all are available. */
  missing(): string | undefined;
  /** Removes what only the recovery needed. */
  cleanUp(): Promise<void>;
}
