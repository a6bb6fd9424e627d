import type { KubeadmControlPlane } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { AddonDaemonSet, containerOf, imagePatch } from "./addon-kinds.ts";
import { imageText, parseImage, versionTag } from "./images.ts";
import type { WorkloadProblem } from "./workload-side.ts";

const NAME = "kube-proxy";
/** Set on a KubeadmControlPlane whose kube-proxy the user manages. */
const SKIP_ANNOTATION = "controlplane.cluster.x-k8s.io/skip-kube-proxy";

/** Sets kube-proxy's image to the version of the control plane. A cluster without kube-proxy stays without it. */
export async function updateKubeProxy(
  client: Client,
  { metadata, spec }: KubeadmControlPlane,
  signal: AbortSignal,
): Promise<WorkloadProblem | undefined> {
  if (metadata.annotations?.[SKIP_ANNOTATION] !== undefined) return undefined;
  const key = { namespace: "kube-system", name: NAME };
  const found = await client.get(AddonDaemonSet, key, signal);
  const container = found === undefined ? undefined : containerOf(found, NAME);
  if (container === undefined) return undefined;
  const image = parseImage(container.image);
  if (image === undefined)
    return {
      reason: "KubeProxyImageUnknown",
      message: `The image ${container.image.slice(0, 200)} of DaemonSet kube-system/kube-proxy has no tag that could be replaced: write it as repository/kube-proxy:tag, or set the annotation ${SKIP_ANNOTATION} to manage kube-proxy yourself`,
    };
  const repository = spec.kubeadmConfigSpec?.clusterConfiguration?.imageRepository?.replace(/\/+$/, "");
  const wanted = imageText({ ...image, repository: repository ?? image.repository, tag: versionTag(spec.version) });
  if (wanted === container.image) return undefined;
  await client.patch({ kind: AddonDaemonSet, ...key }, imagePatch(container.index, NAME, wanted), {}, signal);
  return undefined;
}
