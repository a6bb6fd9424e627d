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

/** Returns the problem that a field has an invalid value. */
export function invalid(field: string, value: unknown, detail: string): AdmissionProblem {
  return { type: "FieldValueInvalid", field, value, detail };
}

/** Returns the problem that a field may not be set, or not be changed in this way. */
export function forbidden(field: string, detail: string): AdmissionProblem {
  return { type: "FieldValueForbidden", field, detail };
}

/** Returns the problem that a required field is missing. */
export function required(field: string, detail: string): AdmissionProblem {
  return { type: "FieldValueRequired", field, detail };
}

/** Converts a problem into the field error of an API Status. */
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

/** Formats a problem as Kubernetes formats field errors, with field, value and detail. */
export function problemText(problem: AdmissionProblem): string {
  return fieldErrorText(fieldError(problem));
}

const VERSION = /^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([-0-9a-zA-Z_.+]*)?$/;

/** A parsed Kubernetes version such as `v1.34.4`, without pre-release and build metadata. */
export interface KubernetesVersion {
  major: number;
  minor: number;
  patch: number;
}

/** Parses a version such as `v1.34.4` or `v1.34.4+build`; returns undefined for anything else. */
export function parseVersion(text: string): KubernetesVersion | undefined {
  const match = VERSION.exec(text);
  return match === null ? undefined : { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

/** Compares two versions: negative when `a` is older, zero when they are equal. Pre-release suffixes are ignored. */
export function compareVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

/** Checks that a version field, if set, is a version such as `v1.34.4`. */
export function versionProblems(text: string | undefined, field: string): AdmissionProblem[] {
  if (text === undefined || parseVersion(text) !== undefined) return [];
  return [invalid(field, text, "must be a valid semantic version, such as v1.34.4")];
}

/** Adds the leading `v` to a version that has none: `1.34.4` becomes `v1.34.4`. */
export function withPrefix(version: string): string {
  return version.startsWith("v") ? version : `v${version}`;
}

/** Checks that an object's name is a valid label value, because controllers write it into labels. */
export function labelNameProblems(name: string | undefined): AdmissionProblem[] {
  return isLabelValue(name ?? "").map((text) => invalid("metadata.name", name, `must be a valid label value: ${text}`));
}

/** Checks that an immutable field has not changed; values are compared with `===`. */
export function immutable(field: string, before: unknown, after: unknown): AdmissionProblem[] {
  return before === after ? [] : [forbidden(field, "field is immutable")];
}

/** Checks that an int-or-string field is a number or a percentage such as `25%`. */
export function amountProblems(value: number | string | undefined, field: string): AdmissionProblem[] {
  if (value === undefined || typeof value === "number") return [];
  try {
    scaledValue(value, 100, false);
    return [];
  } catch {
    return [invalid(field, value, 'must be either an int or a percentage such as "25%"')];
  }
}

/** Checks the labels and annotation keys of a template's metadata. */
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

/** Parses a label selector; returns either the selector or the problems with it. */
export function parseSelector(
  selector: SelectorObject,
  field: string,
): { selector: LabelSelector; problems: [] } | { selector: undefined; problems: AdmissionProblem[] } {
  try {
    return { selector: labelSelectorFromObject(sorted(selector)), problems: [] };
  } catch (error) {
    const detail = error instanceof Error ? error.message : "is not a selector";
    return { selector: undefined, problems: [invalid(field, selector, detail)] };
  }
}

/** Labels in order, so that the error names the same one of several invalid labels in every API version. */
function sorted(selector: SelectorObject): SelectorObject {
  if (selector?.matchLabels === undefined) return selector;
  const labels = Object.entries(selector.matchLabels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...selector, matchLabels: Object.fromEntries(labels) };
}

/** Checks that every entry is a CIDR such as 10.128.0.0/12. */
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

/** Rejects taints that Kubernetes or Cluster API itself manages on Nodes and, for workers, the control plane taint. */
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
 * Checks a Go template for object names: only the given variables may be used, and the rendered name must be a valid DNS subdomain.
 * With `random`, the template must contain `{{ .random }}`.
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
