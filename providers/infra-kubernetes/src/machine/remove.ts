import { gone, type MachineRemoval, type Outcome, trouble, wait } from "@capstan/capi";
import { HostNode, HostProblem, HostSecret, PersistentVolumeClaim, Pod } from "@capstan/workloads";
import { type Backend, type Place, withoutPermission } from "../backend.ts";
import { hostOutcome } from "../host-outcome.ts";
import type { KubernetesMachine } from "../kinds/kubernetes-machine.ts";
import { type Key, keyOf, ownerOf } from "../names.ts";
import { claimsOf, keepsClaims } from "./claims.ts";

/** A node that is lost announces nothing. */
const LOST_CHECK_MS = 10_000;
/** What the kubelet may take in addition to the grace period. */
const MARGIN_MS = 30_000;
const OUT_OF_SERVICE = "node.kubernetes.io/out-of-service";

type Removal = MachineRemoval<KubernetesMachine, Backend>;

/** Deletes the pod of a machine and, unless they are to stay, its claims. */
export async function removeMachine(scope: Removal): Promise<Outcome> {
  const { object, backend } = scope;
  const key = keyOf(object);
  const owner = ownerOf("kubernetesmachine", key);
  const secretName = hostOf(scope);
  try {
    const place = await backend.place(owner, secretName, scope.signal);
    const left = await removeAll(scope, place, key, owner);
    if (left !== undefined) return left;
  } catch (error) {
    if (!nothingThere(error, object)) {
      const outcome = hostOutcome(error, key.namespace);
      if (outcome === undefined) throw error;
      return outcome;
    }
  }
  backend.release(owner);
  return gone();
}

function hostOf({ object, backend }: Removal): string | undefined {
  const known = object.status?.podRef;
  return known === undefined ? backend.clusterOf(object)?.spec?.hostCluster?.secretName : known.hostCluster;
}

/** Without a cluster that runs pods there was never a pod. */
function nothingThere(error: unknown, { status }: KubernetesMachine): boolean {
  if (!(error instanceof HostProblem)) return false;
  if (error.reason === "NothingRunsPods") return true;
  return error.reason === "HostClusterNotKnown" && status?.podRef === undefined;
}

async function removeAll(scope: Removal, place: Place, key: Key, owner: string): Promise<Outcome | undefined> {
  const { host, signal } = place;
  const [pod] = host.of(Pod, owner);
  if (pod !== undefined) return await removePod(scope, place, pod);
  await host.remove(HostSecret, owner, signal);
  if (!keepsClaims(scope.object)) await host.remove(PersistentVolumeClaim, owner, signal);
  const secrets = host.of(HostSecret, owner);
  const claims = keepsClaims(scope.object) ? [] : claimsOf(host, key);
  const left = [...secrets, ...claims].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  return left.length === 0 ? undefined : wait("DeletingObjects", `waiting until ${left.join(", ")} is deleted`);
}

/** systemd ends the node in the pod's own grace period; a pod on a node that is lost for good has nobody to end it. */
async function removePod({ clock }: Removal, place: Place, pod: Pod): Promise<Outcome> {
  const { host, signal } = place;
  const { deletionTimestamp, name } = pod.metadata;
  if (deletionTimestamp === undefined) {
    await host.client.delete(pod, {}, signal);
    return wait("DeletingPod", `pod ${name} is being deleted`, LOST_CHECK_MS);
  }
  // It is the time when the grace period is over.
  const overdueMs = clock.now() - Date.parse(deletionTimestamp) - MARGIN_MS;
  if (overdueMs < 0) return wait("DeletingPod", `pod ${name} is being deleted`, LOST_CHECK_MS);
  const node = pod.spec?.nodeName;
  const isLost = await lost(place, node);
  if (isLost) await host.client.delete(pod, { gracePeriodSeconds: 0 }, signal);
  return isLost
    ? wait("DeletingPod", `pod ${name} is deleted by force: outer node ${node} is lost`, LOST_CHECK_MS)
    : trouble(
        "PodNotTerminating",
        `pod ${name} does not end on outer node ${node}; if that node is lost, delete it or taint it: kubectl taint node ${node} ${OUT_OF_SERVICE}=nodeshutdown:NoExecute`,
        LOST_CHECK_MS,
      );
}

async function lost({ host, signal }: Place, name: string | undefined): Promise<boolean> {
  if (name === undefined) return true;
  const node = await host.client.get(HostNode, { name }, signal).catch(withoutPermission("hidden" as const));
  // Kubernetes itself deletes the pods of a node that is missing or out of service.
  if (node === "hidden") return false;
  return node === undefined || (node.spec?.taints ?? []).some(({ key }) => key === OUT_OF_SERVICE);
}
