import type { AdmissionProblem } from "../schema/kind.ts";
import { forbidden } from "./problems.ts";

interface Described {
  checks?: object;
  remediation?: object;
}

interface Switched extends Described {
  enabled?: boolean;
}

/** The health checks of a topology. */
export interface WatchedTopology {
  controlPlane?: { healthCheck?: Switched };
  workers?: { machineDeployments?: { name: string; class: string; healthCheck?: Switched }[] };
}

/** The health checks of a class. */
export interface WatchedClass {
  controlPlane: { healthCheck?: Described; machineInfrastructure?: object };
  workers?: { machineDeployments?: { class: string; healthCheck?: Described }[] };
}

interface Watched {
  path: string;
  given: Switched | undefined;
  ofClass: Described | undefined;
}

/** Rejects enabled health checks without configuration, and those of a control plane without Machines. */
export function topologyHealthProblems(topology: WatchedTopology, ofClass: WatchedClass): AdmissionProblem[] {
  const path = "spec.topology.controlPlane.healthCheck";
  const machineless =
    isDescribed(topology.controlPlane?.healthCheck) && ofClass.controlPlane.machineInfrastructure === undefined;
  return [
    ...(machineless
      ? [forbidden(path, "can be only set if spec.controlPlane.machineInfrastructure is set in ClusterClass")]
      : []),
    ...watchedOf(topology, ofClass).flatMap((watched) =>
      reliesOnNothing(watched)
        ? [
            forbidden(
              `${watched.path}.enabled`,
              "cannot be true: neither the Cluster nor the ClusterClass configures checks",
            ),
          ]
        : [],
    ),
  ];
}

/** Rejects the removal of health checks from a class that a Cluster uses. */
export function lostHealthProblems(
  cluster: { name: string | undefined; topology: WatchedTopology },
  before: WatchedClass,
  after: WatchedClass,
): AdmissionProblem[] {
  const lost = (pair: [Described | undefined, Described | undefined]): boolean =>
    isDescribed(pair[0]) && !isDescribed(pair[1]);
  const detail = `healthCheck cannot be deleted because it is used by Cluster "${cluster.name}"`;
  const { controlPlane, workers } = cluster.topology;
  return [
    ...(lost([before.controlPlane.healthCheck, after.controlPlane.healthCheck]) && relies(controlPlane?.healthCheck)
      ? [forbidden("spec.controlPlane.healthCheck", detail)]
      : []),
    ...(after.workers?.machineDeployments ?? []).flatMap((now) => {
      const old = before.workers?.machineDeployments?.find((one) => one.class === now.class);
      const users = workers?.machineDeployments?.filter((one) => one.class === now.class) ?? [];
      return lost([old?.healthCheck, now.healthCheck]) && users.some(({ healthCheck }) => relies(healthCheck))
        ? [forbidden(`spec.workers.machineDeployments[${now.class}].healthCheck`, detail)]
        : [];
    }),
  ];
}

function watchedOf({ controlPlane, workers }: WatchedTopology, ofClass: WatchedClass): Watched[] {
  return [
    {
      path: "spec.topology.controlPlane.healthCheck",
      given: controlPlane?.healthCheck,
      ofClass: ofClass.controlPlane.healthCheck,
    },
    ...(workers?.machineDeployments ?? []).flatMap(({ name, class: className, healthCheck }) => {
      const found = ofClass.workers?.machineDeployments?.find((one) => one.class === className);
      // A missing class is rejected elsewhere.
      if (found === undefined) return [];
      const path = `spec.topology.workers.machineDeployments[${name}].healthCheck`;
      return [{ path, given: healthCheck, ofClass: found.healthCheck }];
    }),
  ];
}

function reliesOnNothing({ given, ofClass }: Watched): boolean {
  return relies(given) && !isDescribed(ofClass);
}

/** Whether the checks of the class are used. */
function relies(given: Switched | undefined): boolean {
  return given?.enabled === true && !isDescribed(given);
}

function isDescribed(described: Described | undefined): boolean {
  return described?.checks !== undefined || described?.remediation !== undefined;
}
