import type { Machine } from "@capstan/capi";
import type { WorkloadObservation } from "../workload/workload-side.ts";

/** Whether etcd's members and the Machines belong together, as far as it is reported. */
export interface MembersMatch {
  readonly matching: boolean;
  /** Members without a Machine. */
  readonly problems: readonly string[];
}

/** Compares etcd's members with the Nodes of Machines. While a Machine has no Node yet, an unknown member may be its. */
export function membersMatch({ members, youngNodes }: WorkloadObservation, machines: readonly Machine[]): MembersMatch {
  const nodes = new Map(
    machines.flatMap((each) => (each.status?.nodeRef === undefined ? [] : [[each.status.nodeRef.name, each]])),
  );
  if ("unknown" in members) return { matching: nodes.size === 0, problems: [] };
  const provisioning = machines.some(({ status }) => status?.nodeRef === undefined);
  const strangers = members.filter(({ nodeName }) => nodeName === undefined || !nodes.has(nodeName));
  const lost = [...nodes].filter(
    ([node, machine]) =>
      machine.metadata.deletionTimestamp === undefined &&
      !youngNodes.has(node) &&
      !members.some(({ nodeName }) => nodeName === node),
  );
  return {
    matching: lost.length === 0 && (strangers.length === 0 || provisioning),
    problems: strangers.map(
      ({ id, name }) =>
        `Etcd member ${name === "" ? `${id} (Name not yet assigned)` : name} does not have a corresponding Machine`,
    ),
  };
}
