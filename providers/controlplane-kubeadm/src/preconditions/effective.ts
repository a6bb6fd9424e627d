import type { Cluster, KubeadmConfigSpec, KubeadmControlPlane } from "@capstan/capi";
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

/**
 * The config of a Machine as it is compared with that control plane: without the flags that its version rejects, which an earlier release
 * of Capstan may not have known yet when it created the Machine.
 */
export function effectiveConfig(
  config: KubeadmConfigSpec,
  controlPlane: KubeadmControlPlane,
  cluster: Cluster,
): KubeadmConfigSpec {
  return dropsRemovedFlags(controlPlane, cluster) ? withoutRefusedSettings(config, controlPlane.spec.version) : config;
}
