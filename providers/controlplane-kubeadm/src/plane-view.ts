import { field, type Machine } from "@capstan/capi";
import { REMEDIATION_IN_PROGRESS, UPGRADE_STEP } from "./annotations.ts";
import { machineView } from "./machine-view.ts";
import type { ControlPlaneView } from "./plan/view.ts";
import { parseRecord } from "./remediation-record.ts";
import type { OwnedScope } from "./scope.ts";
import { unobserved } from "./unobserved.ts";
import type { WorkloadObservation } from "./workload/workload-side.ts";

const HOUR_SECONDS = 3600;

/** What the view is made from, besides the objects. */
export interface ViewInput {
  readonly machines: readonly Machine[];
  readonly observation: WorkloadObservation;
  /** Machines that have to be replaced, by name. */
  readonly outdated: ReadonlyMap<string, readonly string[]>;
  readonly certificatesAvailable: boolean;
  readonly initialized: boolean;
  readonly workersLeft: readonly string[];
}

/** Returns a control plane as the plan sees it. */
export function planeView(scope: OwnedScope, input: ViewInput): ControlPlaneView {
  const { object, cluster, context, deleting, etcdManaged } = scope;
  const { observation } = input;
  const { spec } = object;
  const topology = cluster.spec?.topology?.version;
  const { maxRetry, retryPeriodSeconds = 0, minHealthyPeriodSeconds = HOUR_SECONDS } = spec.remediation ?? {};
  const surge = spec.rollout?.strategy?.rollingUpdate?.maxSurge;
  return {
    nowMs: context.clock.now(),
    namespace: object.metadata.namespace ?? "default",
    replicas: spec.replicas ?? 1,
    version: spec.version,
    maxSurge: surge === undefined ? 1 : Number(surge),
    initialized: input.initialized,
    etcdManaged,
    certificatesAvailable: input.certificatesAvailable,
    machines: input.machines.map((machine) => {
      const name = machine.metadata.name ?? "";
      return machineView(machine, !input.outdated.has(name), observation.machines.get(name) ?? unobserved());
    }),
    members: observation.members,
    youngNodes: observation.youngNodes,
    failureDomains: (cluster.status?.failureDomains ?? []).map(({ name, controlPlane }) => ({
      name,
      controlPlane: controlPlane === true,
    })),
    topology:
      topology === undefined
        ? undefined
        : {
            version: topology,
            upgradeStep: field(cluster, "metadata", "annotations", UPGRADE_STEP) as string | undefined,
          },
    remediation: {
      maxRetry,
      retryPeriodMs: retryPeriodSeconds * 1000,
      minHealthyPeriodMs: minHealthyPeriodSeconds * 1000,
      inProgress: parseRecord(object.metadata.annotations?.[REMEDIATION_IN_PROGRESS]),
    },
    deleting,
    workersLeft: input.workersLeft,
  };
}
