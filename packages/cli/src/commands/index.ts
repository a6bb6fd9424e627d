import type { CommandDefinition } from "../command.ts";
import { backup, restore } from "./backup.ts";
import { backupCreate, backupList, backupRestore, recover } from "./cluster-backup.ts";
import { complete, completion } from "./completion.ts";
import { convert } from "./convert.ts";
import { createCluster } from "./create-cluster.ts";
import { dashboard } from "./dashboard.ts";
import { deleteCluster } from "./delete-cluster.ts";
import { demoBreak, demoRepair } from "./demo.ts";
import { describeCluster } from "./describe-cluster.ts";
import { events } from "./events.ts";
import { generateCluster, generateYaml } from "./generate.ts";
import { get } from "./get.ts";
import { hostAdd, hostList, hostLogs, hostRemove } from "./host.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { kubernetesInstall, kubernetesList, kubernetesRemove } from "./kubernetes.ts";
import { logs } from "./logs.ts";
import { manager } from "./manager.ts";
import { nodeImageBuild } from "./node-image.ts";
import { pause, resume } from "./pause.ts";
import { retryWorkerPool } from "./retry.ts";
import { scale } from "./scale.ts";
import { down, status } from "./status.ts";
import { up } from "./up.ts";
import { upgradeApply, upgradePlan } from "./upgrade.ts";
import { version } from "./version.ts";
import { why } from "./why.ts";

/** Describes the groups of commands that share their first word, such as `host`. */
export const GROUPS: Readonly<Record<string, string>> = {
  backup: "Back up the management plane, or the etcd of one cluster",
  create: "Create a cluster",
  delete: "Delete a cluster and all its objects",
  demo: "Break and repair the hosts of `capstan up --demo`",
  describe: "Show a cluster and all its parts",
  generate: "Generate manifests from templates",
  host: "Manage your own hosts",
  kubernetes: "Manage Kubernetes programs on this machine",
  "node-image": "Build images of machines that are pods",
  retry: "Retry immediately instead of waiting for a back-off",
  upgrade: "Upgrade clusters to a newer Kubernetes version",
};

/** Every command, in the order help shows them. */
export const COMMANDS: readonly CommandDefinition[] = [
  up,
  status,
  down,
  createCluster,
  dashboard,
  get,
  describeCluster,
  why,
  events,
  logs,
  kubeconfig,
  scale,
  retryWorkerPool,
  upgradePlan,
  upgradeApply,
  pause,
  resume,
  deleteCluster,
  generateCluster,
  generateYaml,
  convert,
  hostAdd,
  hostList,
  hostRemove,
  hostLogs,
  kubernetesInstall,
  kubernetesList,
  kubernetesRemove,
  nodeImageBuild,
  demoBreak,
  demoRepair,
  backup,
  backupCreate,
  backupList,
  backupRestore,
  recover,
  restore,
  manager,
  completion,
  version,
  complete,
];
