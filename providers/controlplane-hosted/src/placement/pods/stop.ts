import type { KubeObject } from "@capstan/apimachinery";
import { Deployment, type HostCluster, Pod, type PodController, StatefulSet } from "@capstan/workloads";
import { endTrial } from "../etcd-upgrade/pods-trial.ts";
import { type PodComponent, type PodNames, podNames, selectorLabels } from "./names.ts";
import { viewOf } from "./state.ts";

/** Stopping in this order lets each release what it holds in the next. */
const STOP_ORDER = ["kube-scheduler", "kube-controller-manager", "kube-apiserver"] as const;

/** Stops all components, etcd last, and keeps its volumes. Returns the pods that still exist. */
export async function stopAll(host: HostCluster, names: PodNames): Promise<string[]> {
  for (const component of STOP_ORDER) {
    const view = viewOf(host, names, component);
    await scaleToZero(host, view.live);
    if (component === "kube-apiserver" && view.pods.length > 0) return podNamesOf(view.pods);
  }
  for (const member of host.of(StatefulSet, names.owner)) await scaleToZero(host, member);
  await endTrial(host, names);
  const components = [...STOP_ORDER, "etcd"] as const;
  return podNamesOf(components.flatMap((component) => podsOf(host, names, component)));
}

/** Reduces the grace period of terminating pods to one second. */
export async function hurry(host: HostCluster, names: PodNames): Promise<void> {
  for (const pod of STOP_ORDER.flatMap((component) => podsOf(host, names, component))) {
    const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
    if (deletionTimestamp !== undefined && (deletionGracePeriodSeconds ?? 0) > 1)
      await host.client.delete(pod, { gracePeriodSeconds: 1 });
  }
}

async function scaleToZero(host: HostCluster, live: PodController | undefined): Promise<void> {
  if (live === undefined || live.spec?.replicas === 0) return;
  await host.client.patch(live, { spec: { replicas: 0 } });
}

function podsOf(host: HostCluster, names: PodNames, component: PodComponent): Pod[] {
  const labels = Object.entries(selectorLabels(names, component));
  return host
    .of(Pod, names.owner)
    .filter(({ metadata }) => labels.every(([key, value]) => metadata.labels?.[key] === value));
}

function podNamesOf(pods: readonly Pod[]): string[] {
  return pods.map(({ metadata }) => `pod ${metadata.name}`);
}

/** Deletes the components that use etcd; returns what still exists, or undefined if nothing does. */
export async function removeWorkers(host: HostCluster, owner: string): Promise<KubeObject[] | undefined> {
  const deployments = await host.remove(Deployment, owner);
  const names = podNames(owner);
  const pods = STOP_ORDER.flatMap((component) => podsOf(host, names, component));
  const left = [...deployments, ...pods];
  return left.length === 0 ? undefined : left;
}
