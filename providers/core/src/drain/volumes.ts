import { type DrainInput, judgedPods } from "./drain.ts";
import { PersistentVolumeClaimKind, PersistentVolumeKind, VolumeAttachmentKind } from "./kinds.ts";

/**
 * Returns the volumes that are still attached to a Node according to the Node and its VolumeAttachments, except those of Pods that draining
 * skips, which stay attached until the machine is deleted.
 */
export async function attachedVolumes(input: DrainInput): Promise<string[]> {
  const { node, client, signal } = input;
  const name = node.metadata.name ?? "";
  const { items } = await client.list(VolumeAttachmentKind, {}, signal);
  // One that never came to be attached is nothing to wait for.
  const attachments = items.filter(({ spec, status }) => spec?.nodeName === name && status?.attached === true);
  const reported = node.status?.volumesAttached ?? [];
  if (attachments.length === 0 && reported.length === 0) return [];
  const kept = await keptVolumes(input);
  const volumes = new Set<string>();
  for (const attachment of attachments) {
    const volume = attachment.spec?.source?.persistentVolumeName;
    if (volume === undefined) volumes.add(attachment.metadata.name ?? "");
    else if (!kept.names.has(volume)) volumes.add(volume);
  }
  for (const { name: id } of reported) if (!kept.handles.has(id)) volumes.add(id);
  return [...volumes].sort();
}

/** Volumes of Pods that are skipped: their names, and as `kubernetes.io/csi/DRIVER^HANDLE`, which is how Nodes report them. */
async function keptVolumes(input: DrainInput): Promise<{ names: Set<string>; handles: Set<string> }> {
  const { client, signal } = input;
  const kept = { names: new Set<string>(), handles: new Set<string>() };
  for (const { pod, verdict } of await judgedPods(input)) {
    if (verdict.do !== "skip") continue;
    for (const volume of pod.spec?.volumes ?? []) {
      const claimName = volume.persistentVolumeClaim?.claimName;
      if (claimName === undefined) continue;
      const key = { namespace: pod.metadata.namespace ?? "", name: claimName };
      const claim = await client.get(PersistentVolumeClaimKind, key, signal);
      const volumeName = claim?.spec?.volumeName;
      if (volumeName === undefined) continue;
      kept.names.add(volumeName);
      const csi = (await client.get(PersistentVolumeKind, { name: volumeName }, signal))?.spec?.csi;
      if (csi !== undefined) kept.handles.add(`kubernetes.io/csi/${csi.driver}^${csi.volumeHandle}`);
    }
  }
  return kept;
}
