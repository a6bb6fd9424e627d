import type { ClusterKey, Node, WorkloadClusters } from "@capstan/capi";
import { parse } from "semver";

/** Kubernetes supports kubelets that are this many minor versions older than kube-apiserver, and none that are newer. */
const OLDEST_KUBELET = 3;
/** Maximum number of Nodes that a message names. */
const NAMED = 5;

interface Problem {
  reason: string;
  message: string;
}

/** Explains which Nodes a kube-apiserver of this version does not support, and what to do; undefined when it supports all. */
export function kubeletProblem(nodes: readonly Node[], version: string): Problem | undefined {
  const server = parse(version);
  if (server === null) return undefined;
  const known = nodes.flatMap((node) => {
    const kubelet = parse(node.status?.nodeInfo?.["kubeletVersion"] ?? "");
    return kubelet === null ? [] : [{ name: node.metadata.name ?? "", kubelet, behind: server.minor - kubelet.minor }];
  });
  const oldest = `v${server.major}.${server.minor - OLDEST_KUBELET}`;
  const tooOld = known.filter(({ behind }) => behind > OLDEST_KUBELET);
  if (tooOld.length > 0)
    return {
      reason: "KubeletTooOld",
      message: `${version} supports kubelets from ${oldest}, but ${list(tooOld)}; upgrade their Machines to ${oldest} or later first (spec.template.spec.version of the MachineDeployment, spec.topology.version of the Cluster), or remove these nodes`,
    };
  const tooNew = known.filter(({ behind }) => behind < 0);
  if (tooNew.length > 0)
    return {
      reason: "KubeletTooNew",
      message: `a kubelet may not be newer than the control plane (${version}), but ${list(tooNew)}; upgrade the control plane, or replace these nodes with nodes of v${server.major}.${server.minor}`,
    };
  return undefined;
}

/** Explains why the kubelets of a cluster block an upgrade of its control plane; undefined when they do not. */
export function nodesRefuse(clusters: WorkloadClusters, cluster: ClusterKey, version: string): Problem | undefined {
  const connection = clusters.get(cluster);
  if (connection.state !== "connected")
    return {
      reason: "NodesNotKnown",
      message: `the versions of the nodes' kubelets must be known before an upgrade, and the cluster is not reachable: ${connection.error}; the upgrade starts once it is`,
    };
  const problem = kubeletProblem(connection.nodes.list(), version);
  // An upgrade reduces the skew of newer kubelets.
  if (problem === undefined || problem.reason === "KubeletTooNew") return undefined;
  return { ...problem, message: `${problem.message}; until then the running version keeps serving` };
}

/** Explains which Nodes the running version does not support; undefined also while the cluster is unreachable. */
export function unsupportedNodes(
  clusters: WorkloadClusters,
  cluster: ClusterKey,
  version: string,
): Problem | undefined {
  const connection = clusters.get(cluster);
  return connection.state === "connected" ? kubeletProblem(connection.nodes.list(), version) : undefined;
}

function list(nodes: readonly { name: string; kubelet: { version: string } }[]): string {
  const named = nodes.slice(0, NAMED).map(({ name, kubelet }) => `${name} has v${kubelet.version}`);
  return nodes.length > NAMED ? `${named.join(", ")} and ${nodes.length - NAMED} more do too` : named.join(", ");
}
