export { kubeadmControlPlaneController } from "./controller.ts";
export { createEtcdWays, type EtcdWaysDeps } from "./etcd/create-etcd-ways.ts";
export { addKubeadmControlPlaneIndexes } from "./indexes.ts";
export { planControlPlane } from "./plan/plan.ts";
export { effectiveControlPlane } from "./preconditions/effective.ts";
export { freeMachines } from "./preconditions/free-machines.ts";
export { type RolloutFacts, type RolloutProblem, rolloutProblem } from "./preconditions/rollout-problem.ts";
export { controlPlaneKubeadm } from "./provider.ts";
export { createWorkloadSide, type WorkloadSideDeps } from "./workload/create-workload-side.ts";
