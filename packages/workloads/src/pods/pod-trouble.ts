import { lastErrorLine } from "../process/log-file.ts";
import type { ContainerStatus, PersistentVolumeClaim, Pod } from "./kinds.ts";

/** Explains why a pod is not ready and what to do about it; undefined when it is ready. */
export function podTrouble(pod: Pod, claims: ReadonlyMap<string, PersistentVolumeClaim>): string | undefined {
  const { status } = pod;
  const condition = (type: string) => status?.conditions?.find((each) => each.type === type);
  if (condition("Ready")?.status === "True") return undefined;
  if (pod.metadata.deletionTimestamp !== undefined) return "is stopping";
  const scheduled = condition("PodScheduled");
  if (scheduled?.status === "False") {
    const claim = pendingClaim(pod, claims);
    return claim === undefined
      ? `${scheduled.reason ?? "Unschedulable"}: ${scheduled.message ?? "no node accepts it"}; add nodes to the host cluster or lower spec.*.resources`
      : claimTrouble(claim);
  }
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  for (const container of containers) {
    const trouble = containerTrouble(container);
    if (trouble !== undefined) return `${container.name}: ${trouble}`;
  }
  if (status?.phase === "Failed") return `${status.reason ?? "Failed"}: ${status.message ?? "the pod has failed"}`;
  if (pod.spec?.nodeName === undefined) return "waiting for a node";
  const waiting = containers.find((container) => container.ready !== true);
  if (waiting?.state?.running !== undefined) return `${waiting.name}: running and not ready yet`;
  return `starting on node ${pod.spec.nodeName}`;
}

/** Returns the termination messages of those containers of a pod that are not running, unchanged. */
export function podWords(pod: Pod): string {
  const ended = (pod.status?.containerStatuses ?? [])
    .filter(({ state }) => state?.running === undefined)
    .map(({ state, lastState }) => state?.terminated?.message ?? lastState?.terminated?.message ?? "");
  return ended.join("\n");
}

/** Returns how each container of a pod last ended, also of those that run again since. */
export function podLastWords(pod: Pod): string {
  return (pod.status?.containerStatuses ?? [])
    .map(({ state, lastState }) => state?.terminated?.message ?? lastState?.terminated?.message ?? "")
    .join("\n");
}

/** Reports whether a pod is ready and not being deleted. */
export function podReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return status?.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;
}

/** Counts the restarts of all containers of a pod. */
export function podRestarts(pod: Pod): number {
  return (pod.status?.containerStatuses ?? []).reduce((sum, container) => sum + (container.restartCount ?? 0), 0);
}

const IMAGE_REASONS = new Set(["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull"]);
/** Reasons of a normal start, which are not problems. */
const USUAL = new Set(["ContainerCreating", "PodInitializing"]);

function containerTrouble(container: ContainerStatus): string | undefined {
  const waiting = container.state?.waiting;
  const ended = container.state?.terminated ?? container.lastState?.terminated;
  // Containers are configured to report the end of their log when they fail.
  const ownWords = lastErrorLine(ended?.message ?? "").trim() || undefined;
  if (waiting?.reason !== undefined && IMAGE_REASONS.has(waiting.reason))
    return `${waiting.reason}: ${waiting.message ?? "the image cannot be pulled"}; correct spec.imageRepository or the component's image, or load the image on the nodes`;
  if (waiting?.reason !== undefined && !USUAL.has(waiting.reason)) {
    const why = ownWords ?? waiting.message;
    return why === undefined ? waiting.reason : `${waiting.reason}: ${why}`;
  }
  if (container.ready === true || ended === undefined) return undefined;
  const code = ended.exitCode === undefined ? "" : ` with code ${ended.exitCode}`;
  return `exited${code}${ended.reason === undefined ? "" : ` (${ended.reason})`}${ownWords === undefined ? "" : `: ${ownWords}`}`;
}

function pendingClaim(pod: Pod, claims: ReadonlyMap<string, PersistentVolumeClaim>): PersistentVolumeClaim | undefined {
  const names = (pod.spec?.volumes ?? []).flatMap((volume) => volume.persistentVolumeClaim?.claimName ?? []);
  return names.map((name) => claims.get(name)).find((claim) => claim !== undefined && claim.status?.phase !== "Bound");
}

function claimTrouble(claim: PersistentVolumeClaim): string {
  const name = claim.metadata.name ?? "";
  const storageClass = claim.spec?.storageClassName;
  return storageClass === undefined || storageClass === ""
    ? `PersistentVolumeClaim ${name} is ${claim.status?.phase ?? "Pending"}: the host cluster has no default StorageClass; set spec.etcd.storage.storageClassName of a new control plane, mark a class as the default, or set spec.etcd.storage.type EmptyDir for one whose data may be lost`
    : `PersistentVolumeClaim ${name} is ${claim.status?.phase ?? "Pending"}: waiting for a volume of StorageClass ${storageClass}; see kubectl describe pvc ${name}`;
}
