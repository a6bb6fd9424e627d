export {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  EmbeddedClusters,
  type EmbeddedClustersOptions,
} from "./embedded/embedded-clusters.ts";
export {
  HOSTED_LABEL,
  HostCluster,
  type HostClusterOptions,
  NameTakenError,
  OWNER_ANNOTATION,
} from "./pods/host-cluster.ts";
export { HostClusters, type HostClustersOptions } from "./pods/host-clusters.ts";
export {
  Deployment,
  HostNode,
  HostSecret,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  type PodController,
  PodDisruptionBudget,
  type PodStatus,
  Service,
  StatefulSet,
} from "./pods/kinds.ts";
export { execInPod, forwardPort, type PodAddress } from "./pods/pod-streams.ts";
export { podRestarts, podTrouble, podWords } from "./pods/pod-trouble.ts";
export { type OwnerLimits } from "./process/isolation/cgroup-limits.ts";
export type { IsolationReport } from "./process/isolation/isolation.ts";
export { readLogTail } from "./process/log-file.ts";
export { bindProblem, PortAllocator, PortTakenError } from "./process/ports.ts";
export { ProcessWorkloads } from "./process/process-workloads.ts";
export { programHash } from "./process/program-files.ts";
export { reclaim, removeReclaimed } from "./process/reclaim.ts";
export { UserIds } from "./process/user-ids.ts";
export type { Connect } from "./simulated/discovery.ts";
export { Guest, type GuestProgram } from "./simulated/guest.ts";
export { type JoinPlan, joinPlan } from "./simulated/join-plan.ts";
export { joinCluster, type Kubelet, kubeletOver } from "./simulated/kubelet.ts";
export { type NodeFacts, nodeOf } from "./simulated/node.ts";
export type { Probe, Program, ProgramId, ProgramState, Workloads } from "./types.ts";
