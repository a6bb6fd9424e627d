import {
  type FieldError,
  forbiddenField,
  invalidValue,
  isLabelValue,
  isQualifiedName,
  required,
} from "@capstan/apimachinery";
import { at, list, obj, text } from "./read.ts";

/** What is wrong with a metav1.LabelSelector; an absent one is fine. */
export function labelSelectorErrors(selector: unknown, path: string): FieldError[] {
  if (selector === undefined || selector === null) return [];
  return [
    ...labelErrors(obj(at(selector, "matchLabels")), `${path}.matchLabels`),
    ...list(at(selector, "matchExpressions")).flatMap((e, i) => expressionErrors(e, `${path}.matchExpressions[${i}]`)),
  ];
}

/** What is wrong with a map of labels. */
export function labelErrors(labels: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...isQualifiedName(key).map((m) => invalidValue(path, key, m)),
    ...isLabelValue(text(value)).map((m) => invalidValue(path, text(value), m)),
  ]);
}

function expressionErrors(expression: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const values = list(at(expression, "values"));
  const operator = text(at(expression, "operator"));
  if (operator === "In" || operator === "NotIn") {
    if (values.length === 0)
      errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    if (values.length > 0)
      errors.push(
        forbiddenField(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
      );
  } else errors.push(invalidValue(`${path}.operator`, operator, "not a valid selector operator"));
  const key = text(at(expression, "key"));
  errors.push(...isQualifiedName(key).map((m) => invalidValue(`${path}.key`, key, m)));
  values.forEach((value, i) => {
    errors.push(...isLabelValue(text(value)).map((m) => invalidValue(`${path}.values[${i}]`, text(value), m)));
  });
  return errors;
}
