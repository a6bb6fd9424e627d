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
export type { Probe, Program, ProgramId, ProgramState, Workloads } from "./types.ts";
