export { rangesProblem } from "../network-problem.ts";
export { FakeEtcd } from "./fake-etcd.ts";
export { makePlan, type PlacementCase, type PlacementWorld, placementCases } from "./placement-cases.ts";
export { PodRunner } from "./pod-runner.ts";
export { podData, podObjects, podThings } from "./pod-things.ts";
