import { deepCopy } from "@capstan/apimachinery";
import type { KubeadmConfigSpec, KubeadmControlPlane } from "@capstan/capi";
import semver from "semver";

/** How a Machine becomes part of a control plane: `init` starts it, `join` adds to it. */
export type JoinMode = "init" | "join";

/** kubeadm had this feature gate from 1.31 until it became the only behaviour in 1.36. */
export const LOCAL_MODE = "ControlPlaneKubeletLocalMode";

/** Returns the KubeadmConfig of a Machine: the template without the configuration of the other mode. */
export function desiredConfig({ spec }: KubeadmControlPlane, mode: JoinMode): KubeadmConfigSpec {
  const config: KubeadmConfigSpec = deepCopy(spec.kubeadmConfigSpec ?? {});
  if (mode === "join") {
    delete config.initConfiguration;
    // Marks the config as one of a joining control plane Machine.
    config.joinConfiguration = { ...config.joinConfiguration };
    config.joinConfiguration.controlPlane ??= {};
  } else {
    delete config.joinConfiguration;
  }
  const gates = config.clusterConfiguration?.featureGates;
  if (hasLocalMode(spec.version) && gates?.[LOCAL_MODE] === undefined)
    config.clusterConfiguration = { ...config.clusterConfiguration, featureGates: { ...gates, [LOCAL_MODE]: true } };
  return config;
}

function hasLocalMode(version: string): boolean {
  const parsed = semver.parse(version);
  return parsed !== null && parsed.major === 1 && parsed.minor >= 31 && parsed.minor < 36;
}
