import type { ReasonCatalogue } from "@capstan/capi";

/** Reasons that every control plane's conditions may have. */
export const CONTROL_PLANE_REASONS: ReasonCatalogue = {
  KubeletTooNew: {
    meaning: "A Node runs a newer kubelet than the control plane would have.",
    cure: "Upgrade the control plane first, or replace these Nodes.",
  },
  KubeletTooOld: {
    meaning: "The new version does not support the kubelets of some Nodes.",
    cure: "Upgrade their Machines first; the message names the oldest version that works.",
  },
  NoBackup: {
    meaning: "The store of the backups has none of this control plane, although there were some or it was changed.",
    cure: "Take a backup with capstan backup create, or correct where backups are stored.",
  },
  NodesNotKnown: {
    meaning:
      "The versions of the kubelets are unknown because the workload cluster cannot be reached; the upgrade waits.",
    cure: "Restore the connection to the cluster.",
  },
};
