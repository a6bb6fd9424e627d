export { type PlacementCase, type PlacementWorld, placementCases } from "./placement-cases.ts";
export { PodRunner } from "./pod-runner.ts";
