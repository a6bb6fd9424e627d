import { redactText } from "@capstan/runtime";
import {
  type ContainerState,
  type ContainerStatus,
  type PersistentVolumeClaim,
  type Pod,
  podWords,
} from "@capstan/workloads";

/** What a machine's pod does, in the outer cluster's words. */
export type PodState =
  /** The node has started, and its bootstrap script has succeeded. */
  | { readonly type: "up"; readonly ready: boolean; readonly message: string }
  /** It is on its way. */
  | { readonly type: "starting"; readonly reason: string; readonly message: string }
  /** Something keeps it from starting; it may resolve by itself or by a person. */
  | { readonly type: "stuck"; readonly reason: string; readonly message: string }
  /** No outer node has room. */
  | { readonly type: "noRoom"; readonly message: string }
  /** The pod will never run again. */
  | { readonly type: "ended"; readonly reason: string; readonly message: string; readonly bootstrap?: true };

const IMAGE_REASONS = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "InvalidImageName",
  "ErrImageNeverPull",
  "ImageInspectError",
]);
const USUAL = new Set(["ContainerCreating", "PodInitializing"]);
const MESSAGE_LENGTH = 2000;

/** Judges a pod by its status. `node` is the name of the container with the node. */
export function stateOfPod(pod: Pod, node: string, claims: readonly PersistentVolumeClaim[]): PodState {
  const { status, metadata } = pod;
  if (metadata.deletionTimestamp !== undefined)
    return { type: "ended", reason: "PodDeleted", message: disruption(pod) ?? `pod ${metadata.name} is being deleted` };
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return endOf(pod, node);
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  const pending = claims.find((claim) => claim.status?.phase !== "Bound" && claim.status?.phase !== undefined);
  // Claims that wait for their first consumer are pending whatever the reason is: the scheduler says whether it is a volume.
  const isVolume = scheduled?.message === undefined || /volume|storage/i.test(scheduled.message);
  if (scheduled?.status === "False" && pending !== undefined && isVolume)
    return claimPending(pending, scheduled.message);
  if (scheduled?.status === "False")
    return scheduled.reason === "SchedulingGated"
      ? {
          type: "starting",
          reason: "SchedulingGated",
          message: said(scheduled.message ?? "the pod has scheduling gates"),
        }
      : { type: "noRoom", message: said(scheduled.message ?? "no outer node accepts the pod") };
  const container = status?.containerStatuses?.find(({ name }) => name === node);
  // Its pod has no end of its own while another container runs.
  if (container?.state?.terminated !== undefined) return endOf(pod, node);
  if (container !== undefined && isStuck(container)) return stuck(container);
  if (container?.started === true) return up(container, pod);
  if (container?.state?.running !== undefined)
    return {
      type: "starting",
      reason: "Bootstrapping",
      message: "the node has started; its bootstrap script is running",
    };
  // The node's container waits for init containers only, but while it has not run, each other one may show what keeps the pod from it.
  const other = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].find(isStuck);
  if (other !== undefined) return stuck(other);
  const on = pod.spec?.nodeName;
  return on === undefined
    ? { type: "starting", reason: "Scheduling", message: "waiting for an outer node" }
    : { type: "starting", reason: "Starting", message: `the pod starts on outer node ${on}` };
}

function isStuck({ state }: ContainerStatus): boolean {
  return state?.waiting?.reason !== undefined && !USUAL.has(state.waiting.reason);
}

function up(container: ContainerStatus, pod: Pod): PodState {
  const ready = container.ready === true;
  return { type: "up", ready, message: ready ? "" : `pod ${pod.metadata.name} is running and not ready` };
}

function stuck({ name, state }: ContainerStatus): PodState {
  const reason = state?.waiting?.reason ?? "";
  const message = said(state?.waiting?.message ?? reason);
  if (IMAGE_REASONS.has(reason))
    return {
      type: "stuck",
      reason: "ImagePullFailed",
      message: `container ${name}: ${reason}: ${message}; correct spec.image, load the image on the outer nodes, or set imagePullSecrets`,
    };
  // An outer node that is a container itself, on an overlay file system of its own.
  const cure = /overlay/i.test(message)
    ? "; give the container runtime of the outer node a folder that is not on an overlay file system, or another snapshotter"
    : "";
  return { type: "stuck", reason: "ContainerCannotStart", message: `container ${name}: ${reason}: ${message}${cure}` };
}

function claimPending(claim: PersistentVolumeClaim, message: string | undefined): PodState {
  const name = claim.metadata.name ?? "";
  const storageClass = claim.spec?.storageClassName;
  const cure =
    storageClass === undefined || storageClass === ""
      ? "the outer cluster has no default StorageClass: set storageClassName in volumeClaimTemplates of a new template, or mark a class as the default"
      : `StorageClass ${storageClass} has not provided a volume; see kubectl describe pvc ${name}`;
  return {
    type: "stuck",
    reason: "ClaimPending",
    message: `PersistentVolumeClaim ${name} is ${claim.status?.phase}: ${message === undefined ? "" : `${said(message)}; `}${cure}`,
  };
}

/** Why a pod will not run again: who ended it, or what its container said last. */
function endOf(pod: Pod, node: string): PodState {
  const { status } = pod;
  const container = status?.containerStatuses?.find(({ name }) => name === node);
  const terminated = container?.state?.terminated;
  const by = disruption(pod);
  if (by !== undefined) return { type: "ended", reason: "PodDisrupted", message: by };
  if (status?.reason === "Evicted") return { type: "ended", reason: "PodEvicted", message: said(status.message ?? "") };
  if (terminated?.reason === "OOMKilled")
    return {
      type: "ended",
      reason: "PodOOMKilled",
      message:
        "the node used more memory than its limit and was killed; raise resources.limits.memory in a new template",
    };
  const words = said(terminated?.message || podWords(pod) || status?.message || "");
  const code = terminated?.exitCode === undefined ? "" : ` with code ${terminated.exitCode}`;
  if (container === undefined || terminated === undefined) return notStarted(pod, words);
  const how = terminated.reason === undefined || terminated.reason === "Error" ? "" : ` (${terminated.reason})`;
  return {
    type: "ended",
    reason: "NodeExited",
    message: `the node exited${code}${how}${words === "" ? "" : `: ${words}`}${architectureHint(words)}`,
    ...(isOwnEnd(terminated) ? { bootstrap: true } : {}),
  };
}

/**
 * Whether the scripts of the node ended it, which leave a message and code 1, or it cannot start at all. Every other end, such as the codes
 * of a container that was killed or that is missing after a restart of the outer node, says nothing about the bootstrap data.
 */
function isOwnEnd({ reason, exitCode, message }: NonNullable<ContainerState["terminated"]>): boolean {
  return reason === "StartError" || reason === "ContainerCannotRun" || (exitCode === 1 && (message ?? "") !== "");
}

/** An init container failed, or the kubelet refused the pod, such as for a resource that the outer node has not got. */
function notStarted({ status }: Pod, words: string): PodState {
  const init = status?.initContainerStatuses?.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
  const { exitCode, message = "" } = init?.state?.terminated ?? {};
  if (init !== undefined)
    return {
      type: "ended",
      reason: "InitContainerFailed",
      message: said(`init container ${init.name} exited with code ${exitCode}${message === "" ? "" : `: ${message}`}`),
    };
  // A condition's reason has to be a word, whatever the outer cluster says.
  const reason = status?.reason !== undefined && /^[A-Za-z]{1,64}$/.test(status.reason) ? status.reason : "PodFailed";
  return { type: "ended", reason, message: words || "the pod has failed" };
}

function architectureHint(words: string): string {
  return words.includes("exec format error")
    ? "; the image is for another processor architecture: correct spec.image"
    : "";
}

/** Who removes the pod, where the outer cluster says so: preemption, a drain, a taint, a node that is out of resources. */
function disruption(pod: Pod): string | undefined {
  const target = pod.status?.conditions?.find(({ type, status }) => type === "DisruptionTarget" && status === "True");
  return target === undefined
    ? undefined
    : said(`${target.reason ?? "Disrupted"}: ${target.message ?? "the outer cluster removes the pod"}`);
}

/** Foreign text in a condition: no secrets, not too long. */
function said(text: string): string {
  const clean = redactText(text).trim();
  return clean.length <= MESSAGE_LENGTH ? clean : `${clean.slice(0, MESSAGE_LENGTH)}…`;
}
