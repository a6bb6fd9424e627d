import { type ContractReference, templatedKind } from "@capstan/capi";

/** Returns the kind of the objects that a template creates; for a kind that is no template, the kind itself. */
export function clonedKind(templateKind: string): string {
  return templatedKind(templateKind) ?? templateKind;
}

/** Returns the reference to an object created from a template. */
export function clonedReference(template: ContractReference, name: string): ContractReference {
  return { apiGroup: template.apiGroup, kind: clonedKind(template.kind), name };
}
