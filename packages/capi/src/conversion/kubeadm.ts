import { isObject } from "@capstan/apimachinery";
import type { PrinterColumnDefinition } from "../schema/kind.ts";
import { boolean, object, optional, string } from "../schema/schema.ts";
import { duration, list, mapToList, reference } from "./codecs.ts";
import { at } from "./paths.ts";
import { computed, copied, move, newOnly, oldOnly, optionalInOld, type Rule, recode, under } from "./rules.ts";
import { CONDITIONS, counters, FAILURE, TIMEOUTS } from "./shared-rules.ts";

type Column = PrinterColumnDefinition;
const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };
const clusterLabel: Column = {
  name: "Cluster",
  type: "string",
  jsonPath: String.raw`.metadata.labels['cluster\.x-k8s\.io/cluster-name']`,
};

const args = mapToList("value");
const COMPONENTS = ["apiServer", "controllerManager", "scheduler", "etcd.local"];
const CONFIGURATIONS = ["clusterConfiguration", "initConfiguration", "joinConfiguration"];
const TIMEOUT = "timeouts.controlPlaneComponentHealthCheckSeconds";
const NEW_TIMEOUTS = [
  "kubeletHealthCheckSeconds",
  "kubernetesAPICallSeconds",
  "etcdAPICallSeconds",
  "discoverySeconds",
];

const subnet = (maxLength: number) => optional(string({ minLength: 1, maxLength }));

/** KubeadmConfigSpec, in every kind that has one. */
const configSpec: readonly Rule[] = [
  ...COMPONENTS.map((component) => recode(`clusterConfiguration.${component}.extraArgs`, args)),
  recode("initConfiguration.nodeRegistration.kubeletExtraArgs", args),
  recode("joinConfiguration.nodeRegistration.kubeletExtraArgs", args),
  recode("initConfiguration.bootstrapTokens", list([move("ttl", "ttlSeconds", duration)])),
  move("clusterConfiguration.apiServer.timeoutForControlPlane", `initConfiguration.${TIMEOUT}`, duration),
  copied(`joinConfiguration.${TIMEOUT}`, `initConfiguration.${TIMEOUT}`),
  move("joinConfiguration.discovery.timeout", "joinConfiguration.timeouts.tlsBootstrapSeconds", duration),
  newOnly("initConfiguration.timeouts.tlsBootstrapSeconds"),
  ...NEW_TIMEOUTS.flatMap((name) => [
    newOnly(`initConfiguration.timeouts.${name}`),
    newOnly(`joinConfiguration.timeouts.${name}`),
  ]),
  ...CONFIGURATIONS.flatMap((name) => [oldOnly(`${name}.apiVersion`, string()), oldOnly(`${name}.kind`, string())]),
  oldOnly(
    "clusterConfiguration.networking",
    object({ dnsDomain: subnet(253), podSubnet: subnet(1024), serviceSubnet: subnet(1024) }),
  ),
  oldOnly("clusterConfiguration.kubernetesVersion", string({ minLength: 1, maxLength: 256 })),
  oldOnly("clusterConfiguration.clusterName", string({ minLength: 1, maxLength: 63 })),
  oldOnly("useExperimentalRetryJoin", boolean()),
];

/** KubeadmConfig. */
export const kubeadmConfigV1Beta1 = {
  rules: [
    ...CONDITIONS,
    ...FAILURE,
    move("status.ready", "status.initialization.dataSecretCreated"),
    ...under("spec", configSpec),
  ],
  columns: [clusterLabel, age] satisfies Column[],
};

/** KubeadmConfigTemplate. */
export const kubeadmConfigTemplateV1Beta1 = {
  rules: under("spec.template.spec", configSpec),
  columns: [age] satisfies Column[],
};

/** Rules of control planes and their templates. */
const controlPlaneSpec: readonly Rule[] = [
  ...under("kubeadmConfigSpec", configSpec),
  ...TIMEOUTS.map((rule) =>
    rule.type === "move" ? move(`machineTemplate.${rule.old}`, `machineTemplate.spec.${rule.new}`, rule.codec) : rule,
  ),
  move("machineTemplate.taints", "machineTemplate.spec.taints"),
  move("rolloutBefore", "rollout.before"),
  move("rolloutAfter", "rollout.after"),
  move("rolloutStrategy", "rollout.strategy"),
  optionalInOld("rolloutStrategy.type"),
  move("remediationStrategy.retryPeriod", "remediation.retryPeriodSeconds", duration),
  move("remediationStrategy.minHealthyPeriod", "remediation.minHealthyPeriodSeconds", duration),
  move("remediationStrategy", "remediation"),
  move("machineNamingStrategy", "machineNaming"),
];

/** KubeadmControlPlane. */
export const kubeadmControlPlaneV1Beta1 = {
  rules: [
    ...CONDITIONS,
    ...FAILURE,
    ...counters(
      ["updatedReplicas", "readyReplicas", "unavailableReplicas"],
      ["readyReplicas", "availableReplicas", "upToDateReplicas"],
    ),
    move("status.initialized", "status.initialization.controlPlaneInitialized"),
    computed("status.ready", boolean(), isReady),
    move("status.lastRemediation.timestamp", "status.lastRemediation.time"),
    ...under("spec", controlPlaneSpec),
    move("spec.machineTemplate.infrastructureRef", "spec.machineTemplate.spec.infrastructureRef", reference),
    move("spec.machineTemplate.readinessGates", "spec.machineTemplate.spec.readinessGates"),
  ],
  columns: [
    clusterLabel,
    { name: "Initialized", type: "boolean", jsonPath: ".status.initialized" },
    { name: "API Server Available", type: "boolean", jsonPath: ".status.ready" },
    { name: "Desired", type: "integer", jsonPath: ".spec.replicas", priority: 10 },
    { name: "Replicas", type: "integer", jsonPath: ".status.replicas" },
    { name: "Ready", type: "integer", jsonPath: ".status.readyReplicas" },
    { name: "Updated", type: "integer", jsonPath: ".status.updatedReplicas" },
    { name: "Unavailable", type: "integer", jsonPath: ".status.unavailableReplicas" },
    age,
    { name: "Version", type: "string", jsonPath: ".spec.version" },
  ] satisfies Column[],
};

/** A control plane was ready in v1beta1 when one of its Machines was. */
function isReady(controlPlane: unknown): boolean | undefined {
  const ready = isObject(controlPlane) ? at(controlPlane, "status.deprecated.v1beta1.readyReplicas") : undefined;
  return typeof ready === "number" && ready > 0 ? true : undefined;
}

/** KubeadmControlPlaneTemplate. */
export const kubeadmControlPlaneTemplateV1Beta1 = {
  rules: under("spec.template.spec", controlPlaneSpec),
  columns: [age] satisfies Column[],
};
