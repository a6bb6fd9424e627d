import type { Condition } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf, progressing, withTransitionTimes } from "@capstan/capi";
import type { BackupReport } from "./backup/backups.ts";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { PlacementState } from "./placement/placement.ts";
import type { PlacementType } from "./planes.ts";
import { openWork } from "./progress.ts";
import { withoutEffect } from "./without-effect.ts";

/** The result of one reconcile of a HostedControlPlane. */
export type Progress =
  | { step: "paused" }
  | { step: "waiting"; reason: string; message: string }
  | { step: "hibernated"; state: PlacementState }
  | {
      step: "running";
      state: PlacementState;
      prepared: boolean;
      backup?: BackupReport;
      authorities?: ConditionInput;
      /** Nodes that the serving version does not support. */
      nodes?: { reason: string; message: string };
    }
  | { step: "deleting"; message: string };

/** Everything that the status of a HostedControlPlane is computed from. */
export interface StatusInput {
  object: HostedControlPlane;
  progress: Progress;
  paused: ConditionInput;
  placement: PlacementType;
  nowMs: number;
}

/** Computes the complete status, and when it changes without an event. */
export function controlPlaneStatus(input: StatusInput): {
  status: NonNullable<HostedControlPlane["status"]>;
  recheckMs: number | undefined;
} {
  const { object, progress } = input;
  if (progress.step === "paused" && object.status?.conditions !== undefined)
    return { status: pausedStatus(input, object.status), recheckMs: undefined };
  const serving = progress.step === "running" && progress.state.apiReady && progress.prepared;
  const initialized = serving || object.status?.initialization?.controlPlaneInitialized === true;
  const version =
    progress.step === "running" ? (progress.state.version ?? object.status?.version) : object.status?.version;
  const replicas = serving && progress.step === "running" ? (progress.state.readyReplicas ?? 1) : 0;
  const backup =
    progress.step === "running" ? (progress.backup?.status ?? object.status?.backup) : object.status?.backup;
  const computed = conditions(input, serving);
  const withTimes = (inputs: readonly ConditionInput[]): Condition[] =>
    withTransitionTimes(inputs, conditionsOf(object), input.nowMs, object.metadata.generation);
  const work = openWork(object, progress.step, withTimes(computed));
  const advance = progressing(object, work, input.nowMs);
  const status = {
    conditions: withTimes([...computed, ...(progress.step === "deleting" ? [] : [advance.condition])]),
    // Sticky: once workers could join, later trouble is told by conditions alone.
    ...(initialized ? { initialization: { controlPlaneInitialized: true } } : {}),
    externalManagedControlPlane: true,
    ...(version === undefined ? {} : { version, versions: [{ version, replicas: Math.max(replicas, 1) }] }),
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    upToDateReplicas: version === object.spec.version ? replicas : 0,
    ...(backup === undefined ? {} : { backup }),
    ...(object.metadata.generation === undefined ? {} : { observedGeneration: object.metadata.generation }),
  };
  return { status, recheckMs: advance.dueMs };
}

/** A control plane goes on while work on it is paused: what was last known of it stays, and the Cluster still probes its API. */
function pausedStatus(
  { object, paused, nowMs }: StatusInput,
  before: NonNullable<HostedControlPlane["status"]>,
): NonNullable<HostedControlPlane["status"]> {
  const known = conditionsOf(object);
  const kept = known
    .filter(({ type }) => type !== paused.type)
    .map(({ type, status, reason, message }) => ({ type, status, reason, message }));
  return { ...before, conditions: withTransitionTimes([...kept, paused], known, nowMs, object.metadata.generation) };
}

function conditions(input: StatusInput, serving: boolean): ConditionInput[] {
  const { progress } = input;
  const deleting: ConditionInput =
    progress.step === "deleting"
      ? { type: "Deleting", status: "True", reason: "Deleting", message: progress.message }
      : { type: "Deleting", status: "False", reason: "NotDeleting", message: "" };
  return [
    available(input, serving),
    ...componentConditions(input),
    ...upgradeCondition(progress),
    // What does not keep the API from serving is told when it serves: before, it would hide what does.
    ...(serving ? [...loopbackCondition(input), withoutEffect(input.object.spec, input.placement) ?? []].flat() : []),
    ...(progress.step === "running" && progress.nodes !== undefined
      ? [{ type: "NodesSupported", status: "False" as const, ...progress.nodes }]
      : []),
    ...(progress.step === "running" && progress.backup?.condition !== undefined ? [progress.backup.condition] : []),
    ...(progress.step === "running" && progress.authorities !== undefined ? [progress.authorities] : []),
    deleting,
    input.paused,
  ];
}

function available(input: StatusInput, serving: boolean): ConditionInput {
  const { progress } = input;
  const type = "Available";
  if (serving) return { type, status: "True", reason: "Available", message: "" };
  const no = (reason: string, message: string): ConditionInput => ({ type, status: "False", reason, message });
  switch (progress.step) {
    case "paused":
      return { type, status: "Unknown", reason: "Paused", message: "Work on this control plane is paused" };
    case "waiting":
      return no(progress.reason, progress.message);
    case "hibernated":
      return no("Hibernated", "spec.replicas is 0: the data is kept; set it to 1 to start again");
    case "deleting":
      return no("Deleting", progress.message);
    case "running": {
      const notReady = progress.state.components.filter((component) => !component.ready);
      if (notReady.length === 0 && progress.state.apiReady)
        return no("PreparingCluster", "Writing what nodes need to join into the new cluster");
      return no("ComponentsNotReady", told(notReady, input.object.spec));
    }
  }
}

/** etcd and the other components each have a condition of their own, so that `why` can name the one at fault. */
function componentConditions({ progress, object: { spec } }: StatusInput): ConditionInput[] {
  if (progress.step !== "running") return [];
  const etcd = progress.state.components.filter((component) => component.name.startsWith("etcd"));
  const others = progress.state.components.filter((component) => !component.name.startsWith("etcd"));
  const trouble = progress.state.etcd;
  const members = health("EtcdClusterHealthy", etcd, spec);
  return [
    trouble === undefined || members.status !== "True" ? members : { ...members, status: "False", ...trouble },
    health("ControlPlaneComponentsHealthy", others, spec),
  ];
}

/** Whether what runs is what is wanted. */
function upgradeCondition(progress: Progress): ConditionInput[] {
  if (progress.step !== "running" || !progress.state.apiReady) return [];
  const { upgrade } = progress.state;
  return [
    upgrade === undefined
      ? { type: "UpToDate", status: "True", reason: "UpToDate", message: "" }
      : { type: "UpToDate", status: "False", ...upgrade },
  ];
}

/** An address that only this machine knows lets no other machine join. */
function loopbackCondition({ object, placement }: StatusInput): ConditionInput[] {
  const host = object.spec.controlPlaneEndpoint?.host ?? "";
  // What is embedded has nodes in memory, which are never elsewhere.
  if (placement === "Embedded" || !/^(127\.|localhost$|::1$)/.test(host)) return [];
  return [
    {
      type: "EndpointReachable",
      status: "False",
      reason: "LoopbackEndpoint",
      message: `Nodes on other machines cannot reach ${host}; start the manager with --node-address, or set spec.controlPlaneEndpoint.host of a new control plane`,
    },
  ];
}

function health(
  type: string,
  components: PlacementState["components"],
  spec: HostedControlPlane["spec"],
): ConditionInput {
  const bad = components.filter((component) => !component.ready);
  if (components.length > 0 && bad.length === 0) return { type, status: "True", reason: "Healthy", message: "" };
  const message = told(bad, spec);
  return { type, status: "False", reason: "NotHealthy", message: message === "" ? "Not started yet" : message };
}

const FIELDS = {
  "kube-apiserver": "apiServer",
  "kube-controller-manager": "controllerManager",
  "kube-scheduler": "scheduler",
  etcd: "etcd",
} as const;
const SETTINGS = ["extraArgs", "featureGates", "files", "oidc", "audit", "encryption", "admission"];

/** Components in their own words; one that ends although its programs are Kubernetes' own mostly does so for what it was told. */
function told(components: PlacementState["components"], spec: HostedControlPlane["spec"]): string {
  return components
    .map(({ name, message }) => {
      const [, field] = Object.entries(FIELDS).find(([program]) => name.startsWith(program)) ?? [];
      const settings = Object.keys((field === undefined ? undefined : spec[field]) ?? {});
      const set = settings.filter((setting) => SETTINGS.includes(setting)).map((setting) => `spec.${field}.${setting}`);
      const cure = set.length > 0 && message.startsWith("ended by itself") ? `; correct ${set.join(" or ")}` : "";
      return `* ${name}: ${message}${cure}`;
    })
    .join("\n");
}
