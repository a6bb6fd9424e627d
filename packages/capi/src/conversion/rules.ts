import type { JSONSchemaProps } from "@capstan/apimachinery";
import type { Schema } from "../schema/schema.ts";

/** What a conversion may know beside the object. */
export interface ConversionContext {
  /** Namespace of the object, which references of v1beta1 name. */
  namespace: string | undefined;
  /** The version that a reference of v1beta1 to a kind gets; the stored version has none. */
  apiVersionOf(group: string, kind: string): string;
}

/** How one value looks in the old and in the new version. Values of wrong types give undefined, never an exception. */
export interface Codec {
  up(old: unknown, context: ConversionContext): unknown;
  down(value: unknown, context: ConversionContext): unknown;
  /** The old value as it comes back: defaults filled, durations printed as Go does. */
  canonical?(old: unknown, context: ConversionContext): unknown;
  /** The old schema from the new one. */
  schema(json: JSONSchemaProps): JSONSchemaProps;
}

/** One difference between the old (v1beta1) and the new (stored) version of a kind. Paths are dotted fields. */
export type Rule =
  | { type: "move"; old: string; new: string; codec: Codec | undefined }
  /** Only the old version has it. */
  | { type: "oldOnly"; path: string; schema: Schema }
  /** Only the new version has it. */
  | { type: "newOnly"; path: string }
  /** Only the new version has it, but old objects give it the value of another field of the new version. */
  | { type: "copied"; path: string; from: string }
  /** The old version computes it from the new object and never reads it. */
  | { type: "computed"; path: string; schema: Schema; value(object: unknown): unknown }
  /** Required in the new version, optional in the old one. */
  | { type: "optionalInOld"; path: string };

/** A field that has another place, another form, or both. Deeper fields are listed before the objects they are in. */
export function move(old: string, target: string, codec?: Codec): Rule {
  return { type: "move", old, new: target, codec };
}

/** A field of the same name whose value has another form. */
export function recode(path: string, codec: Codec): Rule {
  return { type: "move", old: path, new: path, codec };
}

export function oldOnly(path: string, schema: Schema): Rule {
  return { type: "oldOnly", path, schema };
}

export function newOnly(path: string): Rule {
  return { type: "newOnly", path };
}

export function copied(path: string, from: string): Rule {
  return { type: "copied", path, from };
}

export function computed(path: string, schema: Schema, value: (object: unknown) => unknown): Rule {
  return { type: "computed", path, schema, value };
}

export function optionalInOld(path: string): Rule {
  return { type: "optionalInOld", path };
}

/** The same rules for an object that lies below a path (of the same name in both versions). */
export function under(path: string, rules: readonly Rule[]): Rule[] {
  return rules.map((rule) => {
    if (rule.type === "move") return { ...rule, old: `${path}.${rule.old}`, new: `${path}.${rule.new}` };
    if (rule.type === "copied") return { ...rule, path: `${path}.${rule.path}`, from: `${path}.${rule.from}` };
    return { ...rule, path: `${path}.${rule.path}` };
  });
}
