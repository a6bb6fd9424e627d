import type { CommandDefinition } from "../command.ts";
import { backup, restore } from "./backup.ts";
import { describeCluster } from "./describe-cluster.ts";
import { get } from "./get.ts";
import { hostAdd, hostList, hostRemove } from "./host.ts";
import { kubeconfig } from "./kubeconfig.ts";
import { kubernetesInstall, kubernetesList, kubernetesRemove } from "./kubernetes.ts";
import { manager } from "./manager.ts";
import { down, status } from "./status.ts";
import { up } from "./up.ts";
import { version } from "./version.ts";
import { why } from "./why.ts";

/** What the first words of commands of two words are about. */
export const GROUPS: Readonly<Record<string, string>> = {
  create: "Create a cluster",
  delete: "Delete a cluster and everything it is made of",
  describe: "Show a cluster and all its parts",
  generate: "Make manifests from templates",
  host: "Hosts of your own",
  kubernetes: "Kubernetes programs on this machine",
  upgrade: "Bring clusters to a newer Kubernetes",
};

/** Every command, in the order help shows them. */
export const COMMANDS: readonly CommandDefinition[] = [
  up,
  status,
  down,
  get,
  describeCluster,
  why,
  kubeconfig,
  hostAdd,
  hostList,
  hostRemove,
  kubernetesInstall,
  kubernetesList,
  kubernetesRemove,
  backup,
  restore,
  manager,
  version,
];
