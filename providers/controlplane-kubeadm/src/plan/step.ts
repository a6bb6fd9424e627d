import type { RemediationRecord } from "./view.ts";

/** Why nothing can be done for the moment. */
export type WaitReason =
  | "WorkersLeft"
  | "MachineDeleting"
  | "MembersUnknown"
  | "OrphanedMember"
  | "QuorumWouldBeLost"
  | "NoHealthyControlPlane"
  | "LeaderUnknown"
  | "TopologyVersion"
  | "CertificatesMissing"
  | "NotHealthy";

/** Waits until something changes, and checks again after `recheckMs` in case that no watch reports it. */
export interface Wait {
  readonly type: "wait";
  readonly reason: WaitReason;
  readonly message: string;
  readonly recheckMs: number;
}

/** Removes a member of etcd; the leader hands over to the first of `moveLeaderTo` that accepts. */
export interface RemoveMember {
  readonly type: "removeMember";
  readonly memberId: string;
  readonly message: string;
}

/** The next step of a control plane: one at a time, and only this one changes anything. */
export type Step =
  | { readonly type: "none" }
  | Wait
  | {
      readonly type: "create";
      /** `init` starts the control plane, `join` adds to it. */
      readonly mode: "init" | "join";
      readonly failureDomain: string | undefined;
    }
  | {
      readonly type: "delete";
      readonly machine: string;
      readonly why: "scaleDown" | "rollout" | "remediation";
      /** Members that may take over the leadership, the most reliable first; empty if the Machine does not have it. */
      readonly moveLeaderTo: readonly string[];
      /** Recorded on the control plane until the replacement exists. */
      readonly record: RemediationRecord | undefined;
    }
  | RemoveMember
  | {
      readonly type: "releaseHook";
      readonly machine: string;
      readonly removeMember: string | undefined;
      readonly moveLeaderTo: readonly string[];
    }
  | { readonly type: "deleteAll"; readonly machines: readonly string[] }
  | { readonly type: "finished" };

/** A Machine that needs remediation and does not get it now: what its OwnerRemediated condition says. */
export interface Deferral {
  readonly machine: string;
  readonly reason: "RemediationDeferred" | "CannotBeRemediated";
  readonly message: string;
}

/** The next step, and what is to be reported about remediations. */
export interface Plan {
  readonly step: Step;
  readonly deferral: Deferral | undefined;
  /** Machines that recovered before they were remediated: their OwnerRemediated condition is removed. */
  readonly recovered: readonly string[];
  /** The recorded remediation has its replacement: the annotation is removed. */
  readonly remediationCompleted: boolean;
}
