export {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  EmbeddedClusters,
  type EmbeddedClustersOptions,
} from "./embedded/embedded-clusters.ts";
export { readLogTail } from "./process/log-file.ts";
export { bindProblem, PortAllocator, PortTakenError } from "./process/ports.ts";
export { ProcessWorkloads } from "./process/process-workloads.ts";
export { UserIds } from "./process/user-ids.ts";
export type { Connect } from "./simulated/discovery.ts";
export { Guest, type GuestProgram } from "./simulated/guest.ts";
export { type JoinPlan, joinPlan } from "./simulated/join-plan.ts";
export { joinCluster, type Kubelet, kubeletOver } from "./simulated/kubelet.ts";
export { type NodeFacts, nodeOf } from "./simulated/node.ts";
export type { Probe, Program, ProgramId, ProgramState, Workloads } from "./types.ts";
