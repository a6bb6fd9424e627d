import type { ConditionInput } from "@capstan/capi";
import type { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { PlacementState } from "./placement/placement.ts";
import type { Progress, StatusInput } from "./status.ts";
import { withoutEffect } from "./without-effect.ts";

/** Computes all conditions of a HostedControlPlane except Progressing, which depends on when these last changed. */
export function conditions(input: StatusInput, serving: boolean): ConditionInput[] {
  const { progress } = input;
  const deleting: ConditionInput =
    progress.step === "deleting"
      ? { type: "Deleting", status: "True", reason: "Deleting", message: progress.message }
      : { type: "Deleting", status: "False", reason: "NotDeleting", message: "" };
  return [
    available(input, serving),
    ...componentConditions(input),
    ...upgradeCondition(progress),
    // A problem that does not keep the API from serving is reported only once it serves: earlier it would hide the ones that do.
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

/** Whether the running version and configuration are the desired ones. */
function upgradeCondition(progress: Progress): ConditionInput[] {
  if (progress.step !== "running" || !progress.state.apiReady) return [];
  const { upgrade } = progress.state;
  return [
    upgrade === undefined
      ? { type: "UpToDate", status: "True", reason: "UpToDate", message: "" }
      : { type: "UpToDate", status: "False", ...upgrade },
  ];
}

/** With an address that only this machine can reach no other machine can join. */
function loopbackCondition({ object, placement }: StatusInput): ConditionInput[] {
  const host = object.spec.controlPlaneEndpoint?.host ?? "";
  // An embedded control plane has only nodes in memory, which are never on other machines.
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

/** Messages of the components. A Kubernetes program that exits usually does so because of its settings, so these are named. */
function told(components: PlacementState["components"], spec: HostedControlPlane["spec"]): string {
  return components
    .map(({ name, message }) => {
      const [, field] = Object.entries(FIELDS).find(([program]) => name.startsWith(program)) ?? [];
      const settings = Object.keys((field === undefined ? undefined : spec[field]) ?? {});
      const set = settings.filter((setting) => SETTINGS.includes(setting)).map((setting) => `spec.${field}.${setting}`);
      const cure = set.length > 0 && message.startsWith("exited by itself") ? `; correct ${set.join(" or ")}` : "";
      return `* ${name}: ${message}${cure}`;
    })
    .join("\n");
}
