export {
  type EmbeddedCluster,
  type EmbeddedClusterOptions,
  EmbeddedClusters,
  type EmbeddedClustersOptions,
} from "./embedded/embedded-clusters.ts";
export { machinesHost } from "./embedded/machines-address.ts";
export { EMBEDDED_OBJECTS, shared } from "./embedded/objects.ts";
export { startEmbeddedSigner } from "./embedded/signer.ts";
export { asHostProblem, findHost, type HostChoice, HostProblem } from "./pods/find-host.ts";
export {
  HOSTED_LABEL,
  HostCluster,
  type HostClusterOptions,
  NameTakenError,
  OWNER_ANNOTATION,
} from "./pods/host-cluster.ts";
export { HostClusters, type HostClustersOptions } from "./pods/host-clusters.ts";
export {
  type ContainerState,
  type ContainerStatus,
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
  ServiceCidr,
  StatefulSet,
} from "./pods/kinds.ts";
export { readyNodeAddress } from "./pods/node-address.ts";
export { execInPod, forwardPort, type PodAddress } from "./pods/pod-streams.ts";
export { podLastWords, podReady, podRestarts, podTrouble, podWords } from "./pods/pod-trouble.ts";
export { type OwnerLimits } from "./process/isolation/cgroup-limits.ts";
export type { IsolationReport } from "./process/isolation/isolation.ts";
export { readLogTail } from "./process/log-file.ts";
export { allocatedPorts, bindProblem, PortAllocator, PortTakenError } from "./process/ports.ts";
export { ProcessWorkloads } from "./process/process-workloads.ts";
export { programHash } from "./process/program-files.ts";
export { UserIds } from "./process/user-ids.ts";
export { PlaneMachine, type PlaneMachineFacts } from "./simulated/control-plane/plane-machine.ts";
export {
  SimulatedControlPlanes,
  type SimulatedControlPlanesOptions,
} from "./simulated/control-plane/simulated-control-planes.ts";
export type { MachineTrouble } from "./simulated/control-plane/simulated-plane.ts";
export type { Connect } from "./simulated/discovery.ts";
export { Guest, type GuestProgram } from "./simulated/guest.ts";
export { type JoinPlan, joinPlan, type KubeadmPlan, kubeadmPlan, type Registration } from "./simulated/join-plan.ts";
export { type JoinDeps, joinCluster, type Kubelet, kubeletOver } from "./simulated/kubelet.ts";
export { machineProgram, planeMember, type SimulatedMachine } from "./simulated/machine-program.ts";
export { type NodeFacts, nodeOf } from "./simulated/node.ts";
export { resumedKubelet } from "./simulated/resumed-kubelet.ts";
export { SimulatedEtcd, type StartedMember } from "./simulated/simulated-etcd.ts";
export type { Probe, Program, ProgramId, ProgramState, Workloads } from "./types.ts";
