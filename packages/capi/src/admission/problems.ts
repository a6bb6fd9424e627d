import {
  duplicate,
  type FieldError,
  fieldErrorText,
  forbiddenField,
  invalidValue,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  type LabelSelector,
  labelSelectorFromObject,
  parseCidrText,
  required as requiredField,
  scaledValue,
  validateLabels,
} from "@capstan/apimachinery";
import type { AdmissionProblem } from "../schema/kind.ts";

/** A field whose value is wrong. */
export function invalid(field: string, value: unknown, detail: string): AdmissionProblem {
  return { type: "FieldValueInvalid", field, value, detail };
}

/** A field that must not be set or changed so. */
export function forbidden(field: string, detail: string): AdmissionProblem {
  return { type: "FieldValueForbidden", field, detail };
}

/** A field that is missing. */
export function required(field: string, detail: string): AdmissionProblem {
  return { type: "FieldValueRequired", field, detail };
}

/** The API's form of a problem. */
export function fieldError({ type, field, value, detail }: AdmissionProblem): FieldError {
  switch (type) {
    case "FieldValueRequired":
      return requiredField(field, detail);
    case "FieldValueForbidden":
      return forbiddenField(field, detail);
    case "FieldValueDuplicate":
      return duplicate(field, value);
    case "FieldValueInvalid":
      return invalidValue(field, value, detail);
    case "FieldValueNotSupported":
      return { type, field, badValue: value, detail };
  }
}

/** A problem in the words of the API. */
export function problemText(problem: AdmissionProblem): string {
  return fieldErrorText(fieldError(problem));
}

const VERSION = /^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([-0-9a-zA-Z_.+]*)?$/;

/** A version as Kubernetes writes it: `v1.34.4`. */
export interface KubernetesVersion {
  major: number;
  minor: number;
  patch: number;
}

export function parseVersion(text: string): KubernetesVersion | undefined {
  const match = VERSION.exec(text);
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

/** Below zero when `a` is older; pre-releases do not count. */
export function compareVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

export function versionProblems(text: string | undefined, field: string): AdmissionProblem[] {
  if (text === undefined || parseVersion(text) !== undefined) return [];
  return [invalid(field, text, "must be a valid semantic version, such as v1.34.4")];
}

/** `1.34.4` becomes `v1.34.4`. */
export function withPrefix(version: string): string {
  return version.startsWith("v") ? version : `v${version}`;
}

/** Names that are used as label values. */
export function labelNameProblems(name: string | undefined): AdmissionProblem[] {
  return isLabelValue(name ?? "").map((text) => invalid("metadata.name", name, `must be a valid label value: ${text}`));
}

/** An immutable field that was changed. */
export function immutable(field: string, before: unknown, after: unknown): AdmissionProblem[] {
  return before === after ? [] : [forbidden(field, "field is immutable")];
}

/** Numbers or percentages. */
export function amountProblems(value: number | string | undefined, field: string): AdmissionProblem[] {
  if (value === undefined || typeof value === "number") return [];
  try {
    scaledValue(value, 100, false);
    return [];
  } catch {
    return [invalid(field, value, 'must be either an int or a percentage such as "25%"')];
  }
}

/** Labels and annotations of a template. */
export function metadataProblems(
  metadata: { labels?: Record<string, string>; annotations?: Record<string, string> } | undefined,
  field: string,
): AdmissionProblem[] {
  return [
    ...validateLabels(metadata?.labels, `${field}.labels`).map((e) => invalid(e.field, e.badValue, e.detail)),
    ...Object.keys(metadata?.annotations ?? {}).flatMap((key) =>
      isQualifiedName(key.toLowerCase()).map((text) => invalid(`${field}.annotations`, key, text)),
    ),
  ];
}

type SelectorObject = Parameters<typeof labelSelectorFromObject>[0];

/** A selector, or what is wrong with it. */
export function parseSelector(
  selector: SelectorObject,
  field: string,
): { selector: LabelSelector; problems: [] } | { selector: undefined; problems: AdmissionProblem[] } {
  try {
    return { selector: labelSelectorFromObject(sorted(selector)), problems: [] };
  } catch (error) {
    const detail = error instanceof Error ? error.message : "is no selector";
    return { selector: undefined, problems: [invalid(field, selector, detail)] };
  }
}

/** Labels in order, so that of several bad ones the same is named whatever way the object came. */
function sorted(selector: SelectorObject): SelectorObject {
  if (selector?.matchLabels === undefined) return selector;
  const labels = Object.entries(selector.matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...selector, matchLabels: Object.fromEntries(labels) };
}

/** Address ranges. */
export function cidrProblems(blocks: readonly string[] | undefined, field: string): AdmissionProblem[] {
  return (blocks ?? []).flatMap((block, index) =>
    parseCidrText(block) === undefined
      ? [invalid(`${field}[${index}]`, block, "must be an address range such as 10.128.0.0/12")]
      : [],
  );
}

const RESERVED_TAINTS = ["node.cluster.x-k8s.io/uninitialized", "node.cluster.x-k8s.io/outdated-revision"];

interface Taint {
  key: string;
}

/** Taints that others own on Nodes. */
export function taintProblems(
  taints: readonly Taint[] | undefined,
  field: string,
  worker: boolean,
): AdmissionProblem[] {
  return (taints ?? []).flatMap(({ key }, index) => {
    const detail = taintProblem(key, worker);
    return detail === undefined ? [] : [invalid(`${field}[${index}].key`, key, detail)];
  });
}

function taintProblem(key: string, worker: boolean): string | undefined {
  if (RESERVED_TAINTS.includes(key)) return "taint key is not allowed";
  if (key.startsWith("node.kubernetes.io/") && key !== "node.kubernetes.io/out-of-service")
    return "taint key must not have the prefix node.kubernetes.io/, except for node.kubernetes.io/out-of-service";
  if (key.startsWith("node.cloudprovider.kubernetes.io/"))
    return "taint key must not have the prefix node.cloudprovider.kubernetes.io/";
  if (key === "node-role.kubernetes.io/master") return "taint is deprecated since 1.24 and should not be used anymore";
  if (worker && key === "node-role.kubernetes.io/control-plane") return "taint is not allowed for worker Machines";
  return undefined;
}

/**
 * Templates of names: the variables stand for valid names, what is left must make a valid name too. `random`: whether
 * the name must hold a random part.
 */
export function namingProblems(
  template: string | undefined,
  field: string,
  variables: readonly string[],
  random: boolean,
): AdmissionProblem[] {
  if (template === undefined) return [];
  if (random && !template.includes("{{ .random }}"))
    return [invalid(field, template, "invalid template, {{ .random }} is missing")];
  const unknown: string[] = [];
  const rendered = template.replace(/\{\{([^{}]*)\}\}/g, (_, inside: string) => {
    const expression = inside.slice(inside.startsWith("-") ? 1 : 0, inside.endsWith("-") ? -1 : undefined).trim();
    if (!variables.includes(expression)) unknown.push(expression);
    return "x";
  });
  if (unknown.length > 0 || rendered.includes("{{"))
    return [invalid(field, template, `invalid template: known variables are ${variables.join(", ")}`)];
  return isDns1123Subdomain(rendered).map((text) =>
    invalid(field, template, `invalid template, generated names would not be valid Kubernetes object names: ${text}`),
  );
}
