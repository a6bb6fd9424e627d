import { type ContractReference, templatedKind } from "@capstan/capi";

/** The kind of the objects that a template makes; a reference to something else leads to itself, and the webhook's error is shown. */
export function clonedKind(templateKind: string): string {
  return templatedKind(templateKind) ?? templateKind;
}

/** The reference to an object made from a template. */
export function clonedReference(template: ContractReference, name: string): ContractReference {
  return { apiGroup: template.apiGroup, kind: clonedKind(template.kind), name };
}
