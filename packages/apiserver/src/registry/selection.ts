import {
  badRequest,
  type FieldSelector,
  type LabelSelector,
  parseFieldSelector,
  parseLabelSelector,
  type Unstructured,
} from "@capstan/apimachinery";
import type { ResourceType } from "../types.ts";

/** Which objects a list or watch wants. */
export interface Selection {
  /** Everything: no object has to be looked at. */
  readonly all: boolean;
  /** The one name a field selector pins, if it does. */
  readonly name: string | undefined;
  /** How much there is to compare with each object: terms and their values. */
  readonly terms: number;
  matches(object: Unstructured): boolean;
}

const EVERYTHING: Selection = { all: true, name: undefined, terms: 0, matches: () => true };

/** Compiles label and field selectors; 400 for a bad one or a field the type cannot select by. */
export function selectionOf(type: ResourceType, labelText: string, fieldText: string): Selection {
  if (labelText === "" && fieldText === "") return EVERYTHING;
  const labels = labelText === "" ? undefined : parseLabelSelector(labelText);
  const fields = fieldText === "" ? undefined : parseFieldSelector(fieldText);
  if (fields !== undefined) checkFields(type, fields);
  if ((labels === undefined || labels.empty) && (fields === undefined || fields.requirements.length === 0))
    return EVERYTHING;
  return {
    all: false,
    name: fields?.exact("metadata.name"),
    terms: termsOf(labels) + (fields?.requirements.length ?? 0),
    matches: (object) => matchesLabels(labels, object) && matchesFields(type, fields, object),
  };
}

function termsOf(selector: LabelSelector | undefined): number {
  return (selector?.requirements ?? []).reduce((sum, { values }) => sum + 1 + values.length, 0);
}

function matchesLabels(selector: LabelSelector | undefined, object: Unstructured): boolean {
  return selector === undefined || selector.matches(object.metadata.labels);
}

function matchesFields(type: ResourceType, selector: FieldSelector | undefined, object: Unstructured): boolean {
  return selector === undefined || selector.matches((field) => fieldValue(type, field, object));
}

function fieldValue(type: ResourceType, field: string, object: Unstructured): string | undefined {
  if (field === "metadata.name") return object.metadata.name ?? "";
  if (field === "metadata.namespace") return object.metadata.namespace ?? "";
  return type.fieldSelectors[field]?.(object);
}

/** Kinds without fields of their own answer by the default conversion, others by theirs. */
function unknownField(type: ResourceType, field: string): string {
  return type.builtin && Object.keys(type.fieldSelectors).length === 0
    ? `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`
    : `field label not supported: ${field}`;
}

/** Rejects a field that the type cannot select by. */
export function checkFields(type: ResourceType, selector: FieldSelector): void {
  for (const { field } of selector.requirements) {
    const known =
      field === "metadata.name" ||
      (field === "metadata.namespace" && type.namespaced) ||
      Object.hasOwn(type.fieldSelectors, field);
    if (!known) throw badRequest(unknownField(type, field));
  }
}
