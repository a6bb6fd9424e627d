import type { Cluster, KubeadmControlPlane } from "@capstan/capi";
import { dropsRemovedFlags, withoutRefusedSettings } from "@capstan/controlplane";

/**
 * The control plane as its Machines are created and compared: without the flags that its version rejects, if the annotation on it or
 * on its Cluster says so. Otherwise the control plane itself.
 */
export function effectiveControlPlane(controlPlane: KubeadmControlPlane, cluster: Cluster): KubeadmControlPlane {
  const config = controlPlane.spec.kubeadmConfigSpec;
  if (config === undefined || !dropsRemovedFlags(controlPlane, cluster)) return controlPlane;
  const kubeadmConfigSpec = withoutRefusedSettings(config, controlPlane.spec.version);
  return { ...controlPlane, spec: { ...controlPlane.spec, kubeadmConfigSpec } };
}
