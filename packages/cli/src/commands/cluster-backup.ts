import type { CommandDefinition } from "../command.ts";
import { CLUSTER_ARGUMENT, CLUSTER_OPTIONS } from "../options.ts";
import { WAIT_OPTIONS } from "./create-cluster.ts";

/** Defines `capstan backup create`, which takes a backup of a cluster's etcd now. */
export const backupCreate: CommandDefinition = {
  name: "backup create",
  summary: "Back up the etcd of a cluster's control plane now, hosted or on machines",
  details:
    "Schedules and stores are settings: spec.etcd.backup of a HostedControlPlane, or a ControlPlaneBackup for machines; this command creates one without a schedule if there is none.",
  arguments: [CLUSTER_ARGUMENT],
  options: [...WAIT_OPTIONS, ...CLUSTER_OPTIONS],
  examples: [{ command: "capstan backup create demo", does: "and print the name of the backup" }],
  run: async (input) => (await import("./cluster-backup.run.ts")).runBackupCreate(input),
};

/** Defines `capstan backup list`, which lists the backups of a cluster. */
export const backupList: CommandDefinition = {
  name: "backup list",
  summary: "List the backups of a cluster's etcd",
  arguments: [CLUSTER_ARGUMENT],
  options: CLUSTER_OPTIONS,
  examples: [{ command: "capstan backup list demo", does: "the newest last" }],
  run: async (input) => (await import("./cluster-backup.run.ts")).runBackupList(input),
};

/** Defines `capstan backup restore`, which goes back to a backup of a cluster. */
export const backupRestore: CommandDefinition = {
  name: "backup restore",
  summary: "Restore a backup of a cluster's etcd; everything written since then is lost",
  details: "On machines this is a recovery: it shows its plan first, and replaces all control plane machines.",
  arguments: [CLUSTER_ARGUMENT, { name: "backup", summary: "Name of the backup, as `capstan backup list` prints it" }],
  options: [{ flags: "-y, --yes", summary: "Do not ask" }, ...WAIT_OPTIONS, ...CLUSTER_OPTIONS],
  examples: [{ command: "capstan backup restore demo 20261116T030000Z", does: "after a question" }],
  run: async (input) => (await import("./cluster-backup.run.ts")).runBackupRestore(input),
};

/** Defines `capstan recover`, which brings back a control plane on machines whose etcd lost its quorum. */
export const recover: CommandDefinition = {
  name: "recover",
  summary: "Recover a control plane on machines whose etcd has lost its quorum",
  details: [
    "From the surviving member with the newest data, or from a backup if no member answers, onto a new first machine, and then back to the",
    "desired number. Says which data it restores and how much is lost, and asks before it deletes anything. Workers stay as they are.",
  ].join("\n"),
  arguments: [CLUSTER_ARGUMENT],
  options: [
    { flags: "--from-backup <backup>", summary: "Restore this backup, even if a member of etcd survives" },
    { flags: "-y, --yes", summary: "Do not ask" },
    ...WAIT_OPTIONS,
    ...CLUSTER_OPTIONS,
  ],
  examples: [
    { command: "capstan recover demo", does: "show what is lost and what is restored, ask, and do it" },
    { command: "capstan recover demo --from-backup 20261116T030000Z --yes", does: "without a question" },
  ],
  run: async (input) => (await import("./cluster-backup.run.ts")).runRecover(input),
};
