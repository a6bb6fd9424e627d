import {
  Deployment,
  type HostCluster,
  PersistentVolumeClaim,
  Pod,
  type PodController,
  podReady,
  podRestarts,
  podTrouble,
} from "@capstan/workloads";
import { compare } from "semver";
import type { ComponentState } from "../placement.ts";
import { nameOf, type PodComponent, type PodNames, selectorLabels } from "./names.ts";
import { VERSION_ANNOTATION } from "./template.ts";

/** A component as observed in the host cluster. */
export interface ComponentView {
  live: PodController | undefined;
  pods: Pod[];
  ready: number;
  /** Whether all pods are up to date and ready. */
  settled: boolean;
}

/** Returns a component with a Deployment as last observed. */
export function viewOf(host: HostCluster, names: PodNames, component: PodComponent): ComponentView {
  const live = host.get(Deployment, { namespace: names.namespace, name: nameOf(names, component) });
  const labels = Object.entries(selectorLabels(names, component));
  const pods = host
    .of(Pod, names.owner)
    .filter((pod) => labels.every(([key, value]) => pod.metadata.labels?.[key] === value));
  // The pods themselves: the count in a Deployment's status is behind, by seconds when its controller is busy.
  const ready = pods.filter((pod) => podReady(pod)).length;
  return { live, pods, ready, settled: live !== undefined && isSettled(live) };
}

/** Reports whether all pods are up to date and ready. */
export function isSettled({ metadata, spec, status }: PodController): boolean {
  const wanted = spec?.replicas ?? 0;
  if (status?.observedGeneration === undefined || status.observedGeneration < (metadata.generation ?? 0)) return false;
  const current =
    status.updateRevision === undefined
      ? status.updatedReplicas
      : // A StatefulSet counts as updated only what differs from its current revision.
        status.updateRevision === status.currentRevision
        ? status.replicas
        : status.updatedReplicas;
  return (current ?? 0) === wanted && (status.replicas ?? 0) === wanted && (status.readyReplicas ?? 0) === wanted;
}

/** Returns the state of a component, with the message of the pod that has a problem. */
export function stateOf(host: HostCluster, names: PodNames, component: string, view: ComponentView): ComponentState {
  const wanted = view.live?.spec?.replicas ?? 0;
  const restarts = view.pods.reduce((sum, pod) => sum + podRestarts(pod), 0);
  const ready = view.live !== undefined && wanted > 0 && view.ready >= wanted;
  if (ready) return { name: component, ready, message: "", restarts };
  const trouble = troubleOf(host, names, view) ?? "no pod yet: waiting for the host cluster to create one";
  const count = wanted > 1 ? `${view.ready} of ${wanted} ready; ` : "";
  return { name: component, ready, message: `${count}${trouble}`, restarts };
}

/** Returns the first problem of a component's pods, or what prevents them from being created. */
export function troubleOf(host: HostCluster, names: PodNames, view: ComponentView): string | undefined {
  const refused = view.live?.status?.conditions?.find(
    (condition) => condition.type === "ReplicaFailure" && condition.status === "True",
  );
  if (refused !== undefined) return `${refused.reason}: ${refused.message}`;
  const claims = new Map(
    host.of(PersistentVolumeClaim, names.owner).map((claim) => [claim.metadata.name ?? "", claim] as const),
  );
  const troubles = view.pods
    .toSorted((a, b) => (a.metadata.name ?? "").localeCompare(b.metadata.name ?? ""))
    .flatMap((pod) => {
      const trouble = podTrouble(pod, claims);
      return trouble === undefined ? [] : [`pod ${pod.metadata.name} ${trouble}`];
    });
  // A terminating pod explains less than one that does not start.
  return troubles.find((trouble) => !trouble.endsWith("is stopping")) ?? troubles[0];
}

/** Returns the serving version: the oldest one among the ready kube-apiservers. */
export function servingVersion(view: ComponentView): string | undefined {
  const versions = view.pods
    .filter((pod) => podReady(pod))
    .flatMap((pod) => pod.metadata.annotations?.[VERSION_ANNOTATION] ?? []);
  return versions.toSorted(compare)[0];
}

/** Reports whether the rollout of a Deployment has exceeded its progress deadline. */
export function gaveUp(view: ComponentView): boolean {
  return (
    view.live?.status?.conditions?.some(
      (condition) => condition.type === "Progressing" && condition.reason === "ProgressDeadlineExceeded",
    ) === true
  );
}
