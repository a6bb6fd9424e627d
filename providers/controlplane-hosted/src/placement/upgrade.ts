import type { ProgramState } from "@capstan/workloads";

/**
 * Progress of an upgrade: etcd changes first (etcd), then a successor of the new version starts on its own port (trial), serves next to the
 * old replicas (surge), and these are replaced one by one (roll), so that the API stays available.
 */
export interface UpgradeRecord {
  to: string;
  stage: "etcd" | "trial" | "surge" | "roll";
  /** When the stage began. */
  sinceMs: number;
  /** How many kube-apiservers run the new version or are changing to it. */
  rolled: number;
  /** Digest of the new configuration, if only the configuration changes and not the version. */
  configuration?: string;
}

/** The observed state that an upgrade decision depends on. */
export interface UpgradeView {
  successor: ProgramState | undefined;
  /** The state of the kube-apiserver that was replaced last. */
  lastRolled: ProgramState | undefined;
  replicas: number;
  nowMs: number;
}

/** The next action of an upgrade. */
export type UpgradeDecision =
  | { type: "wait"; message: string; recheckMs: number }
  | { type: "next"; upgrade: UpgradeRecord }
  | { type: "done" }
  | { type: "failed"; message: string };

/** How long a kube-apiserver may take to become ready; the same as in kubeadm. */
export const READY_WITHIN_MS = 4 * 60_000;
/** A successor that exited this often is not expected to become ready. */
const ENOUGH_RESTARTS = 3;

/** Decides the next action of an upgrade. */
export function decideUpgrade(upgrade: UpgradeRecord, view: UpgradeView): UpgradeDecision {
  const waited = view.nowMs - upgrade.sinceMs;
  if (upgrade.stage === "roll") {
    if (view.lastRolled?.phase !== "Ready")
      return {
        type: "wait",
        message: `Starting kube-apiserver ${upgrade.rolled} of ${view.replicas} with ${upgrade.to}; its successor serves${saying(view.lastRolled)}`,
        recheckMs: READY_WITHIN_MS,
      };
    if (upgrade.rolled >= view.replicas) return { type: "done" };
    return { type: "next", upgrade: { ...upgrade, rolled: upgrade.rolled + 1, sinceMs: view.nowMs } };
  }
  if (view.successor?.phase === "Ready")
    return upgrade.stage === "trial"
      ? { type: "next", upgrade: { ...upgrade, stage: "surge", sinceMs: view.nowMs } }
      : { type: "next", upgrade: { ...upgrade, stage: "roll", rolled: 1, sinceMs: view.nowMs } };
  const hopeless = (view.successor?.restarts ?? 0) >= ENOUGH_RESTARTS;
  if (hopeless || waited >= READY_WITHIN_MS)
    return {
      type: "failed",
      message: `kube-apiserver ${upgrade.to} does not become ready: ${view.successor?.message ?? "it does not start"}`,
    };
  return {
    type: "wait",
    message: `Waiting for kube-apiserver ${upgrade.to} to become ready: ${view.successor?.message ?? "starting"}`,
    recheckMs: READY_WITHIN_MS - waited,
  };
}

function saying(state: ProgramState | undefined): string {
  return state === undefined || state.message === "" ? "" : ` (${state.message})`;
}
