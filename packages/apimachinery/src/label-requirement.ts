import { badRequest } from "./errors.ts";
import { type FieldError, fieldErrorText, invalidValue } from "./field-error.ts";
import { isLabelValue, isQualifiedName } from "./names.ts";

/** How a label is compared. `=`, `==` and `in` differ only in how they print. */
export type LabelOperator = "=" | "==" | "!=" | "in" | "notin" | "exists" | "!" | "gt" | "lt";

/** One condition on one label. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** A checked requirement; throws BadRequest with upstream's wording. */
export function labelRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const errors = requirementErrors(key, operator, values);
  if (errors.length > 0) {
    const texts = errors.map(fieldErrorText);
    throw badRequest(texts.length === 1 ? String(texts[0]) : `[${texts.join(", ")}]`);
  }
  return { key, operator, values };
}

function requirementErrors(key: string, operator: LabelOperator, values: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const keyErrors = isQualifiedName(key);
  if (keyErrors.length > 0) errors.push(invalidValue("key", key, keyErrors.join("; ")));
  const bad = (detail: string): void => void errors.push(invalidValue("values", values, detail));
  if (operator === "in" || operator === "notin") {
    if (values.length === 0) bad("for 'in', 'notin' operators, values set can't be empty");
  } else if (operator === "exists" || operator === "!") {
    if (values.length !== 0) bad("values set must be empty for exists and does not exist");
  } else if (operator === "gt" || operator === "lt") {
    if (values.length !== 1) bad("for 'Gt', 'Lt' operators, exactly one value is required");
    values.forEach((v, i) => {
      if (parseInt64(v) !== undefined) return;
      errors.push(invalidValue(`values[${i}]`, v, "for 'Gt', 'Lt' operators, the value must be an integer"));
    });
  } else if (values.length !== 1) bad("exact-match compatibility requires one single value");
  values.forEach((v, i) => {
    const valueErrors = isLabelValue(v);
    if (valueErrors.length > 0) errors.push(invalidValue(`values[${i}][${key}]`, v, valueErrors.join("; ")));
  });
  return errors;
}

/** Whether labels meet one requirement. */
export function requirementMatches(r: LabelRequirement, labels: Readonly<Record<string, string>> | undefined): boolean {
  const found: unknown = labels?.[r.key];
  // What every object has from birth, such as `constructor`, is no text and so no label.
  const value = typeof found === "string" ? found : undefined;
  switch (r.operator) {
    case "=":
    case "==":
    case "in":
      return value !== undefined && r.values.includes(value);
    case "!=":
    case "notin":
      return value === undefined || !r.values.includes(value);
    case "exists":
      return value !== undefined;
    case "!":
      return value === undefined;
    case "gt":
    case "lt": {
      const left = value === undefined ? undefined : parseInt64(value);
      const right = parseInt64(r.values[0] ?? "");
      if (left === undefined || right === undefined) return false;
      return r.operator === "gt" ? left > right : left < right;
    }
  }
}

function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** The text of one requirement, values sorted. */
export function printRequirement(r: LabelRequirement): string {
  const values = r.values.toSorted().join(",");
  switch (r.operator) {
    case "exists":
      return r.key;
    case "!":
      return `!${r.key}`;
    case "in":
    case "notin":
      return `${r.key} ${r.operator} (${values})`;
    case "gt":
      return `${r.key}>${values}`;
    case "lt":
      return `${r.key}<${values}`;
    case "=":
    case "==":
    case "!=":
      return `${r.key}${r.operator}${values}`;
  }
}
