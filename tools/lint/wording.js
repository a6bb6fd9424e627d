/** Words that read as translated in texts for users and in test names, and what to write instead (CONTRIBUTING, "Language"). */
export const WORDING = new Map([
  ["cannot be told", "is unknown, cannot be determined"],
  ["told", "reported, shown, logged"],
  ["anew", "again, from scratch"],
  ["goes on", "continues, keeps running"],
  ["can be had", "is available"],
  ["taken back", "rolled back, reverted"],
  ["looked at again", "checked again"],
  ["held against", "compared with, checked against"],
]);

/**
 * Folders that still contain some of these words. An entry is removed when its folder is clean; without entries the rule applies
 * everywhere.
 */
export const WORDING_ALLOWED = new Map([
  ["packages/capi", ["cannot be told", "told", "anew", "goes on"]],
  ["packages/host-agent", ["told", "goes on"]],
  ["packages/manager", ["told"]],
  ["packages/workloads", ["told", "anew", "goes on"]],
  ["providers/bootstrap-kubeadm", ["goes on"]],
  ["providers/core", ["cannot be told", "told", "anew", "goes on"]],
  ["providers/infra-byoh", ["told", "anew", "goes on"]],
  ["providers/infra-memory", ["taken back"]],
  ["providers/infra-metal3", ["told", "goes on", "taken back"]],
  ["tests/e2e", ["told", "anew", "goes on", "taken back"]],
]);
