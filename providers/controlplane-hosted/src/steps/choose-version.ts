import { nodesRefuse, upgradeProblem } from "@capstan/controlplane";
import { clusterKeyOf, type OwnedScope } from "../scope.ts";
import type { Problem } from "./refuse.ts";

/** The version that a control plane is to run. */
export interface ChosenVersion {
  version: string;
  /** Why it is not the version of the spec. */
  problem: Problem | undefined;
  /** Returns why the Nodes do not support the version of the spec, if they do not. */
  nodesRefuse(): Problem | undefined;
}

/** Chooses the version of the spec, or keeps the running one if there is no upgrade path from it. */
export function chooseVersion(scope: OwnedScope): ChosenVersion {
  const { object, type, planes } = scope;
  const wanted = object.spec.version;
  const running = object.status?.version;
  const refused = (): Problem | undefined =>
    planes.workload === undefined ? undefined : nodesRefuse(planes.workload, clusterKeyOf(scope), wanted);
  if (running === undefined) return { version: wanted, problem: undefined, nodesRefuse: refused };
  const unreachable = upgradeProblem(running, wanted);
  const problem =
    unreachable !== undefined
      ? { reason: "InvalidVersion", message: `spec.version: ${unreachable}; ${running} keeps serving` }
      : // It changes immediately; the other placements check when they start an upgrade.
        type === "Embedded" && running !== wanted
        ? refused()
        : undefined;
  return { version: problem === undefined ? wanted : running, problem, nodesRefuse: refused };
}
