export { NETWORK_POLICIES, PodCluster } from "./pod-cluster.ts";
export { PodRunner, type PodRunnerOptions } from "./pod-runner.ts";
export { podData, podObjects, podThings } from "./pod-things.ts";
export { startWorkload, type TestWorkload } from "./workload.ts";
