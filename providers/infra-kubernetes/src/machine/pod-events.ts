import { EventKind, type EventObject, kindRef, redactText } from "@capstan/runtime";
import type { Pod } from "@capstan/workloads";
import { type Place, withoutPermission } from "../backend.ts";

/** Events of core/v1 recorders have their time in a field that the newer API calls deprecated. */
interface OuterEvent extends EventObject {
  deprecatedLastTimestamp?: string | null;
}
const OuterEvent = kindRef<OuterEvent>(EventKind);

/** The kubelet aggregates events: a pod has few, however long it does not start. */
const EVENTS_READ = 50;
const MESSAGE_LENGTH = 1000;

/** Returns the outer cluster's last warning about a pod that does not start, with what to do; undefined if there is none. */
export async function startWarning({ host, signal }: Place, pod: Pod): Promise<string | undefined> {
  const { namespace, uid } = pod.metadata;
  const options = { namespace, fieldSelector: `regarding.uid=${uid},type=Warning`, limit: EVENTS_READ };
  const events = await host.client
    .list(OuterEvent, options, signal)
    .then(({ items }) => items, withoutPermission<OuterEvent[]>([]));
  const last = events
    // That is over once the pod has a node.
    .filter(({ reason }) => reason !== "FailedScheduling")
    .toSorted((a, b) => lastSeen(a).localeCompare(lastSeen(b)))
    .at(-1);
  if (last === undefined) return undefined;
  const { reason = "Warning", note = "" } = last;
  return `${reason}: ${messageOf(note)}; ${cureOf(reason, note, pod)}`;
}

function lastSeen({ series, eventTime, deprecatedLastTimestamp, metadata }: OuterEvent): string {
  return series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}

/** IDs of sandboxes are other ones in each attempt, and a condition must not change with them. */
function messageOf(note: string): string {
  return redactText(note)
    .replaceAll(/\b[0-9a-f]{32,64}\b/g, "…")
    .trim()
    .slice(0, MESSAGE_LENGTH);
}

function cureOf(reason: string, note: string, pod: Pod): string {
  const missing = /\b(secret|configmap|persistentvolumeclaim) "[^"]*" not found/i.exec(note)?.[1];
  if (missing !== undefined)
    return `create that ${missing} in namespace ${pod.metadata.namespace} of the outer cluster, or correct the volumes of the pod template in a new one`;
  if (reason === "FailedMount" || reason === "FailedAttachVolume")
    return "repair the storage of the outer cluster, or correct the volumes of the pod template in a new one";
  if (reason !== "FailedCreatePodSandBox") return `see kubectl describe pod ${pod.metadata.name}`;
  return /runtime ?handler|no runtime for|runtime class/i.test(note)
    ? "install that runtime on the outer nodes, or set another runtimeClassName in a new template"
    : `repair the container runtime or the pod network of outer node ${pod.spec?.nodeName}`;
}
