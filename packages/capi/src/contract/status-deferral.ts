import type { StatusDeferral } from "@capstan/runtime";

/** Status fields that controllers of Cluster API kinds may write later: `deferStatus(CONTRACT_STATUS)` of their builder. */
export const CONTRACT_STATUS: StatusDeferral = {
  explaining: new Set([
    "conditions",
    "deprecated",
    "selector",
    "observedGeneration",
    "lastUpdated",
    "phase",
    "versions",
    "upToDateReplicas",
    "workers",
    "controlPlane",
  ]),
  decisive: new Set(["Ready", "Available", "Deleting", "Paused"]),
};
