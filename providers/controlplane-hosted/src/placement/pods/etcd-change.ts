import type { HostCluster, ProgramState } from "@capstan/workloads";
import { PersistentVolumeClaim, podRestarts, podTrouble } from "@capstan/workloads";
import { type EtcdChangeRecord, type EtcdDescription, judgeTrial, withSettings } from "../etcd/change.ts";
import type { EtcdGround, Waiting } from "../etcd/changes.ts";
import { endTrial, tryOut } from "./etcd-trial.ts";
import { memberSights } from "./members.ts";
import { memberName } from "./names.ts";
import { etcdStatefulSet, type PodsInput, TEMPLATE_ANNOTATION } from "./objects.ts";
import type { PodsRecord } from "./record.ts";

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

  /** A member that changes has a new pod, which has not ended yet. */
  async restarts(): Promise<number> {
    return 0;
  }

  async keep(change: EtcdChangeRecord, serves: EtcdDescription): Promise<Waiting | undefined> {
    if (change.to.version === serves.version) return undefined;
    const { serving, input } = this.#scope;
    const { plan, record } = input;
    const upgrades = serving !== undefined && serving !== plan.version;
    try {
      const name = await plan.backUp?.(upgrades ? `before-${plan.version}` : "before-another-etcd");
      if (name !== undefined) change.backup = name;
    } catch (error) {
      return { pending: backupFailed(error), recheckMs: BACKUP_AGAIN_MS };
    }
    if (upgrades) record.backedUpFor = plan.version;
    // Several members raise the version of their data only when all of them have changed.
    if (record.members.length === 1) change.kept = true;
    return undefined;
  }

  /** The backup stays, like every other. */
  async letGo(): Promise<void> {
    // Nothing else was kept.
  }

  /** The old etcd gets the data as it is, which loses nothing; only when it cannot read it any more, the backup. */
  async putBack(change: EtcdChangeRecord, serves: EtcdDescription): Promise<Waiting | undefined> {
    if (change.kept !== true || change.backup === undefined) return undefined;
    const waiting = (message: string, recheckMs?: number): Waiting => ({
      pending: { reason: "EtcdChanging", message: `etcd goes back to ${serves.version}: ${message}` },
      ...(recheckMs === undefined ? {} : { recheckMs }),
    });
    if (change.restores !== true) {
      const [state] = this.states(serves);
      if (state === undefined) return undefined;
      const verdict = judgeTrial(change, state, this.#scope.nowMs);
      if (verdict.type === "passed") return undefined;
      if (verdict.type === "wait") return waiting(state.message, verdict.recheckMs);
      change.restores = true;
      await this.save();
    }
    return waiting(`it does not read the data any more and gets backup ${change.backup}`, 0);
  }

  refuse(to: EtcdDescription, failure: string): void {
    this.record.etcdRefused = { to, message: failure };
  }

  nameOf(to: EtcdDescription): string {
    return to.version === this.record.etcdServes?.version ? "spec has it now" : to.version;
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
  return { reason: "BackupFailed", message: `No upgrade without a backup, and that failed: ${why}` };
}
