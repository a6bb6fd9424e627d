import type { KubeObject } from "@capstan/apimachinery";
import type { Machine } from "../kinds/machine.ts";
import type { MachinePart } from "./machine-part.ts";

/** Fields of a Machine's spec that its owner decides, apart from the references. */
export type MachineSettings = Pick<
  Machine["spec"],
  "version" | "failureDomain" | "minReadySeconds" | "readinessGates" | "deletion" | "taints"
>;

/**
 * What the controlling owner of Machines, such as a MachineSet or a control plane, wants them to be. Labels, annotations and settings
 * other than version and failure domain change in place; references never change.
 */
export interface MachinePlan {
  owner: KubeObject;
  clusterName: string;
  /** Field managers of Machines, and of the metadata of objects that they reference. */
  fieldManagers: { machine: string; metadata: string };
  /** All labels of Machines. */
  labels: Readonly<Record<string, string>>;
  /** Keys of labels that never change while the owner exists: referenced objects get these on creation, the others are applied. */
  fixedLabels: ReadonlySet<string>;
  /** Annotations of Machines and of the objects that they reference. */
  annotations: Readonly<Record<string, string>>;
  /** Returns the annotations that only an existing Machine keeps, such as hooks of the owner; new ones get those of `NewMachine`. */
  kept?(machine: Machine): Readonly<Record<string, string>>;
  settings: MachineSettings;
  /** Whether the owner applies a failure domain. A placing owner picks one per Machine; without it, others may set the field. */
  appliesFailureDomain: boolean;
  infrastructure: MachinePart;
  /** Name of a Secret with bootstrap data for all Machines, or what their bootstrap configs are created from. */
  bootstrap: MachinePart | Machine["spec"]["bootstrap"];
}

/** A Machine to create. */
export interface NewMachine {
  name: string;
  /** Takes precedence over the settings of the plan. */
  failureDomain?: string | undefined;
  /** Annotations of this Machine alone. */
  annotations?: Readonly<Record<string, string>> | undefined;
}

/** Returns what bootstrap configs are created from; undefined if bootstrap data is provided as a Secret. */
export function bootstrapPart({ bootstrap }: MachinePlan): MachinePart | undefined {
  return "existing" in bootstrap ? bootstrap : undefined;
}

/** Returns why no Machines can be created, or undefined. */
export function planProblem(plan: MachinePlan): string | undefined {
  return bootstrapPart(plan)?.problem ?? plan.infrastructure.problem;
}

/** Returns the labels that referenced objects get on creation. */
export function fixedLabels({ labels, fixedLabels: keys }: MachinePlan): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => keys.has(key)));
}

/** Returns the labels and annotations that change in place on referenced objects. */
export function changeableMetadata({ labels, fixedLabels: keys, annotations }: MachinePlan): {
  labels: Record<string, string>;
  annotations: Record<string, string>;
} {
  const changeable = Object.entries(labels).filter(([key]) => !keys.has(key));
  return { labels: Object.fromEntries(changeable), annotations: { ...annotations } };
}
