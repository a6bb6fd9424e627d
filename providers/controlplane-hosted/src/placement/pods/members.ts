import { damageOf, type MemberView } from "@capstan/etcd";
import {
  type HostCluster,
  PersistentVolumeClaim,
  Pod,
  type PodController,
  podLastWords,
  podReady,
  podRestarts,
  podWords,
  StatefulSet,
} from "@capstan/workloads";
import { memberClaim, memberName, memberPod, type PodNames } from "./names.ts";
import type { PodsMember } from "./record.ts";
import { type ComponentView, isSettled } from "./state.ts";

/** Error messages of etcd if its volume is empty although it held data before, and if it was removed from its cluster. */
const LOST =
  /could not retrieve cluster information|has already been bootstrapped|(permanently|been) removed from the cluster/;

/** Label that StatefulSets set on their pods. */
const REVISION_LABEL = "controller-revision-hash";

/** An etcd member as last observed. */
export interface MemberSight extends MemberView {
  record: PodsMember;
  live: PodController | undefined;
  pod: Pod | undefined;
  settled: boolean;
  /** Whether its pod matches the current template of its StatefulSet. */
  podCurrent: boolean;
  /** Whether its PersistentVolumeClaim is Lost: the volume itself no longer exists. */
  claimLost: boolean;
}

/** Returns the members of a control plane as observed in the host cluster. */
export function memberSights(host: HostCluster, names: PodNames, members: readonly PodsMember[]): MemberSight[] {
  const { namespace } = names;
  return members.map((record) => {
    const { index } = record;
    const live = host.get(StatefulSet, { namespace, name: memberName(names, index) });
    const pod = host.get(Pod, { namespace, name: memberPod(names, index) });
    const claim = host.get(PersistentVolumeClaim, { namespace, name: memberClaim(names, index) });
    const claimLost = claim?.status?.phase === "Lost";
    const ready = pod !== undefined && podReady(pod) && live?.spec?.replicas !== 0;
    const words = ready || pod === undefined ? "" : podWords(pod);
    const runs = pod?.status?.containerStatuses?.some(({ state }) => state?.running !== undefined) === true;
    const damage =
      pod === undefined || ready || runs
        ? undefined
        : damageOf({ phase: "Failed", restarts: podRestarts(pod), message: `its last error: ${words}` });
    const podCurrent = live !== undefined && pod !== undefined && isCurrent(live, pod);
    return {
      record,
      live,
      pod,
      claimLost,
      podCurrent,
      settled: live !== undefined && isSettled(live) && podCurrent,
      // A learner is never ready: whether it has caught up is determined by its promotion.
      ready: ready || (record.learner === true && runs),
      hasData: record.replacing === undefined && !claimLost && !LOST.test(lastWords(record, pod, ready)),
      damage,
    };
  });
}

/**
 * What tells that a volume is empty. A member that held data says it at each start, so while it starts again the last
 * time counts: else its data would seem to be there for a moment. One that never started may only have found no peer yet.
 */
function lastWords({ started }: PodsMember, pod: Pod | undefined, ready: boolean): string {
  if (pod === undefined || ready) return "";
  return started === true ? podLastWords(pod) : podWords(pod);
}

/** Whether a pod was created from the current template of its StatefulSet. */
function isCurrent({ metadata, status }: PodController, pod: Pod): boolean {
  const seen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  return seen && pod.metadata.labels?.[REVISION_LABEL] === status?.updateRevision;
}

/** Combines all members into one component. */
export function etcdView(sights: readonly MemberSight[]): ComponentView {
  return {
    live: sights[0]?.live,
    pods: sights.flatMap(({ pod }) => pod ?? []),
    ready: sights.filter(({ ready }) => ready).length,
    settled: sights.every(({ settled }) => settled),
  };
}
