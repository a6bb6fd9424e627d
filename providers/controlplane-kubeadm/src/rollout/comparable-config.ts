import { deepCopy, isObject } from "@capstan/apimachinery";
import type { KubeadmConfigSpec } from "@capstan/capi";

/** What differs between them does not change a Machine that has joined, or changes the running cluster without replacing it. */
interface Ignored {
  clusterConfiguration?: { controlPlaneEndpoint?: unknown; dns?: unknown };
  joinConfiguration?: { discovery?: unknown };
}

/**
 * Returns a KubeadmConfig in the form in which two of them are compared: defaults are filled in, fields that replace no Machine are left
 * out, and an empty list, map or object is the same as none, with the exceptions that upstream has: `taints: []`, for example, makes
 * kubeadm set none.
 */
export function comparableConfig(config: KubeadmConfigSpec): Record<string, unknown> {
  const copy: KubeadmConfigSpec & Ignored = deepCopy(config);
  const { clusterConfiguration, initConfiguration, joinConfiguration } = copy;
  // The bootstrap provider adds the endpoint, and CoreDNS is updated in the running cluster.
  delete clusterConfiguration?.controlPlaneEndpoint;
  delete clusterConfiguration?.dns;
  delete joinConfiguration?.discovery;
  for (const part of [initConfiguration, joinConfiguration]) {
    // Conversion moves the v1beta1 field apiServer.timeoutForControlPlane here.
    delete part?.timeouts?.controlPlaneComponentHealthCheckSeconds;
    if (part?.nodeRegistration?.imagePullPolicy === "IfNotPresent") delete part.nodeRegistration.imagePullPolicy;
  }
  if (copy.format === "cloud-config") delete copy.format;
  return withoutEmpty(copy) as Record<string, unknown>;
}

/** Whether a KubeadmConfig belongs to the Machine that started the control plane: KubeadmConfigs of others say that they join. */
export function isInitConfig({ joinConfiguration }: KubeadmConfigSpec): boolean {
  return (
    joinConfiguration?.controlPlane === undefined &&
    (joinConfiguration?.nodeRegistration?.kubeletExtraArgs ?? []).length === 0
  );
}

/** Returns the KubeadmConfig of the first Machine as if it had joined, for a comparison with the join configuration. */
export function asJoin(current: KubeadmConfigSpec, desired: KubeadmConfigSpec): KubeadmConfigSpec {
  const { initConfiguration, ...rest } = current;
  const { timeouts, patches, skipPhases, nodeRegistration, localAPIEndpoint } = initConfiguration ?? {};
  const joinConfiguration = {
    ...rest.joinConfiguration,
    timeouts,
    patches,
    skipPhases,
    nodeRegistration,
    controlPlane: { localAPIEndpoint },
    // Only joins have it, so that it never replaces the first Machine.
    caCertPath: desired.joinConfiguration?.caCertPath,
  };
  return { ...rest, joinConfiguration } as KubeadmConfigSpec;
}

/** Lists that differ from none although they are empty. */
const KEPT_EMPTY = new Set(["taints", "endpoints", "diskLayout"]);

function withoutEmpty(value: unknown, key = ""): unknown {
  // Which source a variable has is said by the presence of an object.
  if (key === "valueFrom") return value;
  if (Array.isArray(value)) {
    if (value.length === 0) return KEPT_EMPTY.has(key) ? value : undefined;
    return value.map((item: unknown) => withoutEmpty(item) ?? item);
  }
  if (!isObject(value)) return value ?? undefined;
  const entries = Object.entries(value)
    .map(([name, item]) => [name, withoutEmpty(item, name)] as const)
    .filter(([, item]) => item !== undefined);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
