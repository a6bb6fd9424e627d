import type { HostCluster, ProgramState } from "@capstan/workloads";
import { PersistentVolumeClaim, podRestarts, podTrouble } from "@capstan/workloads";
import { memberSights } from "../pods/members.ts";
import { memberName } from "../pods/names.ts";
import { etcdStatefulSet, type PodsInput, TEMPLATE_ANNOTATION } from "../pods/objects.ts";
import type { PodsRecord } from "../pods/record.ts";
import { type EtcdDescription, withSettings } from "./description.ts";
import type { EtcdGround, PutBackResult, SaveResult, Waiting } from "./ground.ts";
import { endTrial, tryOut } from "./pods-trial.ts";
import type { EtcdChangeRecord } from "./record.ts";
import { judgeTrial } from "./trial.ts";

/** Time after which a failed backup before a change is retried. */
export const BACKUP_AGAIN_MS = 60_000;

/** What a change of etcd in pods works on. */
export interface PodsGroundScope {
  host: HostCluster;
  input: PodsInput;
  /** The version that kube-apiservers run, if there are any. */
  serving: string | undefined;
  nowMs: number;
  save(): Promise<void>;
}

/**
 * Changes etcd in pods: the trial is an additional pod, and the data is saved as a backup, because only a member's own pod can access it.
 */
export class PodsGround implements EtcdGround {
  readonly record: PodsRecord;
  readonly #scope: PodsGroundScope;

  constructor(scope: PodsGroundScope) {
    this.#scope = scope;
    this.record = scope.input.record;
  }

  save(): Promise<void> {
    return this.#scope.save();
  }

  tryOut(to: EtcdDescription): Promise<ProgramState> {
    const { host, input } = this.#scope;
    return tryOut(host, describedPods(input, to));
  }

  async endTrial(): Promise<void> {
    const { host, input } = this.#scope;
    await endTrial(host, input.names);
  }

  /** A changed member has a new pod, which has not exited yet. */
  async restarts(): Promise<number> {
    return 0;
  }

  async keep(change: EtcdChangeRecord, serves: EtcdDescription): Promise<SaveResult> {
    if (change.to.version === serves.version) return { type: "saved" };
    const { serving, input } = this.#scope;
    const { plan, record } = input;
    const upgrades = serving !== undefined && serving !== plan.version;
    let backup: string | undefined;
    try {
      backup = await plan.backUp?.(upgrades ? `before-${plan.version}` : "before-another-etcd");
    } catch (error) {
      return { type: "wait", waiting: { pending: backupFailed(error), recheckMs: BACKUP_AGAIN_MS } };
    }
    if (upgrades) record.backedUpFor = plan.version;
    // Several members raise the version of their data only when all of them have changed.
    const kept = record.members.length === 1 ? { kept: true as const } : {};
    return { type: "saved", backup, ...kept };
  }

  /** The backup stays, like every other. */
  async release(): Promise<void> {
    // Nothing else was saved.
  }

  /** The old etcd gets the data as it is, which loses nothing; the backup is used only if it can no longer read the data. */
  async putBack(change: EtcdChangeRecord, serves: EtcdDescription): Promise<PutBackResult> {
    if (change.kept !== true || change.backup === undefined) return { type: "done" };
    const waiting = (message: string, recheckMs?: number): Waiting => ({
      pending: { reason: "EtcdChanging", message: `etcd is rolled back to ${serves.version}: ${message}` },
      recheckMs,
    });
    if (change.restores !== true) {
      const [state] = this.states(serves);
      if (state === undefined) return { type: "done" };
      const verdict = judgeTrial(change, state, this.#scope.nowMs);
      if (verdict.type === "passed") return { type: "done" };
      if (verdict.type === "wait") return { type: "wait", waiting: waiting(state.message, verdict.recheckMs) };
    }
    const message = `it can no longer read the data, which is replaced with backup ${change.backup}`;
    return { type: "restore", waiting: waiting(message, 0) };
  }

  /** Only the etcd is refused: an upgrade of a control plane in pods starts with it. */
  refuseUpgrade(): boolean {
    return false;
  }

  nameOf(to: EtcdDescription): string {
    return to.version === this.record.etcdServes?.version ? "set in spec" : to.version;
  }

  /** The members, ready only when they run as described. */
  states(as: EtcdDescription): ProgramState[] {
    const { host, input } = this.#scope;
    const { names, record } = input;
    const claims = new Map(
      host.of(PersistentVolumeClaim, names.owner).map((claim) => [claim.metadata.name ?? "", claim] as const),
    );
    return memberSights(host, names, record.members).map((sight) => {
      const { metadata } = etcdStatefulSet(describedPods(input, as), sight.record);
      const digest = sight.live?.metadata.annotations?.[TEMPLATE_ANNOTATION];
      const current = digest === metadata.annotations?.[TEMPLATE_ANNOTATION] && sight.podCurrent;
      const trouble = sight.pod === undefined ? "no pod yet" : podTrouble(sight.pod, claims);
      const ended = current && sight.pod !== undefined ? podRestarts(sight.pod) : 0;
      const ready = current && sight.ready && sight.settled;
      return {
        id: { owner: names.owner, name: memberName(names, sight.record.index) },
        phase: ready ? "Ready" : ended > 0 ? "Failed" : "Starting",
        restarts: ready ? 0 : ended,
        since: 0,
        message: trouble ?? "its pod is replaced",
      };
    });
  }
}

/** Returns the input with another version and settings of etcd than the spec's. */
export function describedPods(input: PodsInput, { version, settings }: EtcdDescription): PodsInput {
  const spec = withSettings(input.plan.spec, settings);
  return {
    ...input,
    plan: { ...input.plan, spec },
    context: { ...input.context, spec },
    record: { ...input.record, etcdImage: version },
  };
}

/** Returns the reason why an upgrade waits: it does not start without a backup. */
export function backupFailed(error: unknown): { reason: string; message: string } {
  const why = error instanceof Error ? error.message : String(error);
  return { reason: "BackupFailed", message: `The upgrade needs a backup first, and taking it failed: ${why}` };
}
