import { badRequest } from "./errors.ts";
import { goQuote } from "./go-text.ts";
import {
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
  printRequirement,
  requirementMatches,
} from "./label-requirement.ts";
import { parseRequirements } from "./label-selector-parser.ts";

/** Conditions on labels that must all hold. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  /** True when everything matches. */
  readonly empty: boolean;
  matches(labels: Readonly<Record<string, string>> | undefined): boolean;
  toString(): string;
}

/** metav1.LabelSelector as it stands in objects. */
export interface LabelSelectorObject {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** Parses the text of a `labelSelector` parameter; throws BadRequest with upstream's wording. */
export function parseLabelSelector(text: string): LabelSelector {
  return labelSelector(parseRequirements(text));
}

/** The selector of a metav1.LabelSelector: undefined matches nothing, `{}` everything; bad ones throw BadRequest. */
export function labelSelectorFromObject(selector: LabelSelectorObject | undefined | null): LabelSelector {
  if (selector === undefined || selector === null) return NOTHING;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push(labelRequirement(key, "=", [value]));
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const op = EXPRESSION_OPERATORS.get(operator);
    if (op === undefined) throw badRequest(`${goQuote(String(operator))} is not a valid label selector operator`);
    requirements.push(labelRequirement(key, op, values ?? []));
  }
  return labelSelector(requirements);
}

/**
 * As labelSelectorFromObject for selectors that users wrote into objects already stored: a bad one matches nothing and says what
 * is wrong with it, so that one invalid object never affects others.
 */
export function selectorOrProblem(
  selector: LabelSelectorObject | undefined | null,
  field: string,
): LabelSelector & { readonly problem: string | undefined } {
  try {
    return { ...labelSelectorFromObject(selector), problem: undefined };
  } catch (error) {
    const cause = error instanceof Error ? error.message : "is no selector";
    return { ...NOTHING, problem: `${field} is not a valid selector, correct it: ${cause}` };
  }
}

const EXPRESSION_OPERATORS = new Map<string, LabelOperator>([
  ["In", "in"],
  ["NotIn", "notin"],
  ["Exists", "exists"],
  ["DoesNotExist", "!"],
]);

/** A selector from requirements, sorted by key as upstream prints them. */
export function labelSelector(requirements: readonly LabelRequirement[]): LabelSelector {
  const sorted = requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return {
    requirements: sorted,
    empty: sorted.length === 0,
    matches: (labels) => sorted.every((r) => requirementMatches(r, labels)),
    toString: () => sorted.map(printRequirement).join(","),
  };
}

const NOTHING: LabelSelector = { requirements: [], empty: false, matches: () => false, toString: () => "" };
