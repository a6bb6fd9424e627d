import { parseYaml, type Unstructured } from "@capstan/apimachinery";
import type { FormProblems } from "./plan-form.ts";

/** A ClusterClass, reduced to what the wizard reads. */
export interface ClusterClassObject extends Unstructured {
  readonly spec?: {
    readonly variables?: readonly VariableDefinition[];
    readonly workers?: { readonly machineDeployments?: readonly { readonly class: string }[] };
  };
}

/** A variable that a ClusterClass defines. */
export interface VariableDefinition {
  readonly name: string;
  readonly required?: boolean;
  readonly schema: { readonly openAPIV3Schema: VariableSchema };
}

/** The part of a variable's schema that decides which field is shown. */
export interface VariableSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The values typed for a cluster of a ClusterClass. */
export interface ClassForm {
  readonly controlPlaneReplicas: string;
  readonly workers: readonly ClassGroup[];
  /** By name; empty means the class's own default. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The values typed for one group of workers. */
export interface ClassGroup {
  readonly key: number;
  readonly class: string;
  readonly name: string;
  readonly replicas: string;
}

const COUNT = /^\d{1,4}$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Returns a new form with one group for each worker class. */
export function newClassForm(chosen: ClusterClassObject): ClassForm {
  return {
    controlPlaneReplicas: "1",
    workers: workerClasses(chosen).map((name, at) => ({ key: at + 1, class: name, name, replicas: "1" })),
    variables: {},
  };
}

/** Returns the names of the worker classes. */
export function workerClasses(chosen: ClusterClassObject): string[] {
  return (chosen.spec?.workers?.machineDeployments ?? []).map((entry) => entry.class);
}

/** Returns the variables that a ClusterClass defines. */
export function variablesOf(chosen: ClusterClassObject): readonly VariableDefinition[] {
  return chosen.spec?.variables ?? [];
}

/** Validates the form as far as the dashboard can; the server finds the other problems. */
export function classProblems(form: ClassForm, chosen: ClusterClassObject): FormProblems {
  const problems: Record<string, string> = {};
  if (!COUNT.test(form.controlPlaneReplicas)) problems["controlPlaneReplicas"] = "A number up to 9999";
  const names = new Set<string>();
  for (const group of form.workers) {
    const at = `workers.${group.key}`;
    if (!LABEL.test(group.name) || group.name.length > 40)
      problems[`${at}.name`] = "Lower-case letters, digits and dashes, at most 40";
    else if (names.has(group.name)) problems[`${at}.name`] = "Another group has this name";
    names.add(group.name);
    if (!COUNT.test(group.replicas)) problems[`${at}.replicas`] = "A number up to 9999";
  }
  for (const definition of variablesOf(chosen)) {
    const problem = variableProblem(definition, form.variables[definition.name] ?? "");
    if (problem !== undefined) problems[`variables.${definition.name}`] = problem;
  }
  return problems;
}

function variableProblem({ required, schema }: VariableDefinition, text: string): string | undefined {
  const { type, default: standard, minimum, maximum, pattern } = schema.openAPIV3Schema;
  if (text === "") return required === true && standard === undefined ? "Required by this class" : undefined;
  if (type === "integer" && !/^-?\d+$/.test(text)) return "A whole number";
  if (type === "number" && (text.trim() === "" || Number.isNaN(Number(text)))) return "A number";
  if ((type === "integer" || type === "number") && minimum !== undefined && Number(text) < minimum)
    return `At least ${minimum}`;
  if ((type === "integer" || type === "number") && maximum !== undefined && Number(text) > maximum)
    return `At most ${maximum}`;
  if (type === "string" && pattern !== undefined && !matches(pattern, text)) return `Must match ${pattern}`;
  if (type !== "object" && type !== "array") return undefined;
  const value = tryYaml(text);
  const fits = type === "array" ? Array.isArray(value) : typeof value === "object" && !Array.isArray(value);
  return fits && value !== null && value !== undefined ? undefined : `YAML of an ${type}`;
}

/** A pattern that this browser cannot read is left to the server. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern).test(text);
  } catch {
    return true;
  }
}

function tryYaml(text: string): unknown {
  try {
    return parseYaml(text);
  } catch {
    return undefined;
  }
}

/** Converts the typed text to the type of the variable. */
export function variableValue({ schema }: VariableDefinition, text: string): unknown {
  const { type, enum: choices } = schema.openAPIV3Schema;
  const choice = choices?.find((candidate) => String(candidate) === text);
  if (choice !== undefined) return choice;
  if (type === "integer" || type === "number") return Number(text);
  if (type === "boolean") return text === "true";
  return type === "string" ? text : (tryYaml(text) ?? text);
}

/** Builds the Cluster that a form describes. */
export function topologyCluster(
  names: { readonly name: string; readonly namespace: string; readonly version: string },
  form: ClassForm,
  chosen: ClusterClassObject,
): Unstructured {
  const variables = variablesOf(chosen).flatMap((definition) => {
    const text = form.variables[definition.name] ?? "";
    return text === "" ? [] : [{ name: definition.name, value: variableValue(definition, text) }];
  });
  const deployments = form.workers.map((group) => ({
    class: group.class,
    name: group.name,
    replicas: Number(group.replicas),
  }));
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { name: names.name, namespace: names.namespace },
    spec: {
      topology: {
        classRef: { name: chosen.metadata.name },
        version: names.version,
        controlPlane: { replicas: Number(form.controlPlaneReplicas) },
        ...(deployments.length === 0 ? {} : { workers: { machineDeployments: deployments } }),
        ...(variables.length === 0 ? {} : { variables }),
      },
    },
  } as Unstructured;
}
