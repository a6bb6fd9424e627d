import { isObject } from "@capstan/apimachinery";
import { boolean, type ConversionRule, computed, integer, move, OLD_CONDITIONS } from "@capstan/capi";

const AGE = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" } as const;

/** Status fields that the v1beta1 contract names differently; the spec is the same. */
const rules: readonly ConversionRule[] = [
  ...OLD_CONDITIONS,
  move("status.initialized", "status.initialization.controlPlaneInitialized"),
  move("status.updatedReplicas", "status.upToDateReplicas"),
  computed("status.ready", boolean(), (stored) => (counter(stored, "readyReplicas") > 0 ? true : undefined)),
  computed("status.unavailableReplicas", integer({ minimum: 0 }), (stored) => {
    const missing = counter(stored, "replicas") - counter(stored, "availableReplicas");
    return missing > 0 ? missing : undefined;
  }),
];

/** Conversion rules and printer columns of HostedControlPlane v1beta1. */
export const hostedControlPlaneV1Beta1 = {
  rules,
  columns: [
    { name: "Cluster", type: "string", jsonPath: String.raw`.metadata.labels['cluster\.x-k8s\.io/cluster-name']` },
    { name: "Initialized", type: "boolean", jsonPath: ".status.initialized" },
    { name: "Ready", type: "boolean", jsonPath: ".status.ready" },
    AGE,
    { name: "Version", type: "string", jsonPath: ".spec.version" },
  ] as const,
};

/** Conversion rules and printer columns of HostedControlPlaneTemplate v1beta1. */
export const hostedControlPlaneTemplateV1Beta1 = { rules: [], columns: [AGE] as const };

function counter(stored: unknown, name: string): number {
  const status = isObject(stored) ? stored["status"] : undefined;
  const value = isObject(status) ? status[name] : undefined;
  return typeof value === "number" ? value : 0;
}
