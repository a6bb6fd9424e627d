/** The stored state of one etcd member of a control plane. */
export interface EtcdMemberRecord {
  index: number;
  /** Indexes of the members it was started with: its `--initial-cluster`, which never changes afterwards. */
  began: number[];
  /** It joined a running cluster. */
  joined?: boolean;
  /** It has no vote yet. */
  learner?: boolean;
  /** kube-apiservers do not use it yet: they get all new members at once. */
  joining?: boolean;
  /** It is about to be removed, and kube-apiservers no longer ask it. */
  leaving?: boolean;
  /** It has held data: from then on an empty folder means loss. */
  started?: boolean;
  /** When it was last replaced, milliseconds since the epoch. */
  replacedMs?: number;
}

/** A member's record together with its observed state. */
export interface MemberView {
  record: EtcdMemberRecord;
  ready: boolean;
  hasData: boolean;
  /** Why its data cannot be read, from its error message. */
  damage: string | undefined;
}

/** The next change to the members of etcd. */
export type MembershipStep =
  | { type: "none" }
  /** All desired members have joined: kube-apiservers may use them. */
  | { type: "serve" }
  | MembershipWait
  | { type: "replace"; index: number; why: string }
  /** `leave` is for that member and all after it. */
  | { type: "add" | "promote" | "leave" | "remove"; index: number };

/** The membership cannot change at the moment. */
export interface MembershipWait {
  type: "wait";
  reason: "EtcdQuorumLost" | "EtcdMembersChanging";
  message: string;
}

/** A member that was replaced and fails again this soon has another problem than its data. */
const REPLACE_AGAIN_MS = 10 * 60_000;

/** Returns the member records of a new control plane. */
export function firstMembers(count: number): EtcdMemberRecord[] {
  const began = Array.from({ length: count }, (_, index) => index);
  return began.map((index) => ({ index, began }));
}

/**
 * Decides the next step towards the desired number of members: one change at a time, and none that could lose the quorum. `settled` means
 * that all kube-apiservers run with the recorded list of members.
 */
export function membershipStep(
  members: readonly MemberView[],
  wanted: number,
  settled: boolean,
  nowMs: number,
): MembershipStep {
  const voters = members.filter(({ record }) => record.learner !== true);
  const quorum = Math.floor(voters.length / 2) + 1;
  const readyWithout = (index: number): number =>
    voters.filter((view) => view.record.index !== index && view.ready).length;
  for (const view of members) {
    const { index } = view.record;
    const why = troubleOf(view, nowMs);
    if (why === undefined || voters.length < 2) continue;
    if (readyWithout(index) >= quorum) return { type: "replace", index, why };
    return {
      type: "wait",
      reason: "EtcdQuorumLost",
      message: `etcd-${index}: ${why}, and too few other members are running to replace it`,
    };
  }
  const learner = members.find(({ record }) => record.learner === true);
  if (learner !== undefined)
    return learner.ready
      ? { type: "promote", index: learner.record.index }
      : changing(`etcd-${learner.record.index} is starting and copying the data`);
  const leaving = members.filter(({ record }) => record.leaving === true).at(-1);
  if (leaving !== undefined) {
    if (!settled) return changing(`waiting for kube-apiservers to stop using etcd-${leaving.record.index}`);
    return readyWithout(leaving.record.index) >= quorum || voters.length === 2
      ? { type: "remove", index: leaving.record.index }
      : changing(`waiting for the other etcd members before removing etcd-${leaving.record.index}`);
  }
  if (members.length === wanted)
    return members.some(({ record }) => record.joining === true) ? { type: "serve" } : { type: "none" };
  if (members.some(({ ready }) => !ready))
    return changing("waiting for all etcd members to be ready before adding or removing one");
  const highest = Math.max(...members.map(({ record }) => record.index));
  return members.length < wanted ? { type: "add", index: highest + 1 } : { type: "leave", index: wanted };
}

/** Describes a step for status messages. */
export function describeStep(step: Exclude<MembershipStep, { type: "none" | "wait" }>, wanted: number): string {
  switch (step.type) {
    case "replace":
      return `etcd-${step.index} is being replaced: ${step.why}`;
    case "promote":
      return `etcd-${step.index} has caught up and becomes a voting member`;
    case "serve":
      return `kube-apiservers start using all ${wanted} etcd members`;
    default:
      return `changing etcd to ${wanted} members: ${step.type} etcd-${step.index}`;
  }
}

function troubleOf({ record, hasData, damage }: MemberView, nowMs: number): string | undefined {
  if (record.started === true && !hasData) return "its data is missing";
  if (damage === undefined) return undefined;
  return nowMs - (record.replacedMs ?? -Infinity) < REPLACE_AGAIN_MS ? undefined : `its data is damaged (${damage})`;
}

const changing = (message: string): MembershipStep => ({ type: "wait", reason: "EtcdMembersChanging", message });

/** A member that exited this often with this message does not recover by itself. */
const ENOUGH_RESTARTS = 3;
/** SIGBUS: a part of the file that is mapped into memory is not there. */
const DAMAGE =
  /signal SIGBUS|crc mismatch|corrupt|checksum|unexpected EOF|invalid database|too small|freepages|already freed|failed to (open|find|recover|read|load) .*(database|db|wal|snap|backend)/i;

/** Returns the error of a member that keeps failing because its data is damaged; undefined for any other failure. */
export function damageOf(state: { phase: string; restarts: number; message: string }): string | undefined {
  if (state.phase !== "Failed" || state.restarts < ENOUGH_RESTARTS || !DAMAGE.test(state.message)) return undefined;
  return state.message.slice(state.message.indexOf("its last error: ") + "its last error: ".length, 300);
}
