import { anything, type OptionalSchema, openObject, optional, string } from "@capstan/capi";

/** Fields of a PodSpec; the API server of the outer cluster checks their content. */
const POD_SPEC_FIELDS = [
  "activeDeadlineSeconds",
  "affinity",
  "automountServiceAccountToken",
  "containers",
  "dnsConfig",
  "dnsPolicy",
  "enableServiceLinks",
  "hostAliases",
  "hostIPC",
  "hostNetwork",
  "hostPID",
  "hostUsers",
  "hostname",
  "imagePullSecrets",
  "initContainers",
  "nodeName",
  "nodeSelector",
  "os",
  "overhead",
  "preemptionPolicy",
  "priority",
  "priorityClassName",
  "readinessGates",
  "restartPolicy",
  "schedulerName",
  "schedulingGates",
  "securityContext",
  "serviceAccount",
  "serviceAccountName",
  "setHostnameAsFQDN",
  "shareProcessNamespace",
  "subdomain",
  "terminationGracePeriodSeconds",
  "tolerations",
  "topologySpreadConstraints",
  "volumes",
] as const;

/** A field of a PodSpec. */
export type PodSpecField = (typeof POD_SPEC_FIELDS)[number];

/** The fields of a PodSpec directly in a spec, as cluster-api-provider-kubernetes has them. */
export const inlinePodSpec = Object.fromEntries(
  POD_SPEC_FIELDS.map((name) => [name, optional(anything({ doc: `Same as podTemplate.spec.${name}.` }))]),
) as Record<PodSpecField, OptionalSchema<unknown>>;

/** Returns the fields of a PodSpec that are directly in a spec. */
export function inlineFields(spec: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    POD_SPEC_FIELDS.filter((name) => spec[name] !== undefined).map((name) => [name, spec[name]]),
  );
}

/** Schema of a PodSpec in which nothing is required. */
export const podSpec = openObject({
  doc: "PodSpec of the machine's pod; containers may be left out. What it does not set has the defaults that a node needs.",
});

/** Schema of the runtime class of a pod. */
export const runtimeClassName = optional(
  string({ doc: "RuntimeClass of the pod, such as one of Sysbox, which needs no privileges.", maxLength: 253 }),
);
