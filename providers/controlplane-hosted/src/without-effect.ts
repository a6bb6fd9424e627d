import type { ConditionInput } from "@capstan/capi";
import type { HostedControlPlaneSpec } from "./kinds/hosted-control-plane.ts";
import type { PlacementType } from "./planes.ts";

const COMPONENTS = ["apiServer", "controllerManager", "scheduler"];
const of = (components: readonly string[], fields: readonly string[]): string[] =>
  components.flatMap((component) => fields.map((field) => `${component}.${field}`));

/** Fields without effect in a placement. */
const WITHOUT_EFFECT: Record<PlacementType, readonly string[]> = {
  Pods: ["expose.bindAddress"],
  Process: [
    "hostCluster",
    "pods",
    "expose.type",
    ...of([...COMPONENTS, "etcd"], ["image", "resources.requests"]),
    ...of(["etcd"], ["storage", "toolsImage"]),
  ],
  // One API server in memory replaces all components.
  Embedded: [
    "hostCluster",
    "pods",
    "expose",
    ...COMPONENTS,
    ...of(["etcd"], ["storage", "image", "resources", "extraArgs", "quotaBytes", "defragment", "toolsImage"]),
  ],
};

/** Returns a condition that lists settings without effect in this placement, so that users do not rely on them, for example encryption. */
export function withoutEffect(spec: HostedControlPlaneSpec, placement: PlacementType): ConditionInput | undefined {
  const fields = WITHOUT_EFFECT[placement].filter((path) => valueAt(spec, path) !== undefined);
  if (fields.length === 0) return undefined;
  const named = fields.map((field) => `spec.${field}`).join(", ");
  return {
    type: "SettingsInEffect",
    status: "False",
    reason: "NotOfPlacement",
    message: `Placement ${placement} ignores ${named}; remove what you do not need, or create a control plane with another placement`,
  };
}

function valueAt(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((found, key) => (found as Record<string, unknown> | undefined)?.[key], value);
}
