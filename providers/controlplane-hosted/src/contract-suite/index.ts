export { rangesProblem } from "../network-problem.ts";
export { isRestore } from "./is-restore.ts";
export { makePlan, type PlacementCase, type PlacementWorld, placementCases } from "./placement-cases.ts";
