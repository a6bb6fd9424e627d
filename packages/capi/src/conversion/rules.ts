import type { JSONSchemaProps } from "@capstan/apimachinery";
import type { Schema } from "../schema/schema.ts";

/** What a conversion needs in addition to the value that it converts. */
export interface ConversionContext {
  /** Namespace of the object; references in v1beta1 contain it. */
  namespace: string | undefined;
  /** Returns the apiVersion to write into a v1beta1 reference to a kind; references in the stored version have none. */
  apiVersionOf(group: string, kind: string): string;
}

/** Converts one value between the old and the new version. A value of the wrong type becomes undefined; codecs never throw. */
export interface Codec {
  up(old: unknown, context: ConversionContext): unknown;
  down(value: unknown, context: ConversionContext): unknown;
  /** The old value as a round trip returns it: with defaults, and durations formatted as in Go. */
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

/** Returns a rule for a field with another path, another form, or both. Rules for nested fields come before the rule of their parent. */
export function move(old: string, target: string, codec?: Codec): Rule {
  return { type: "move", old, new: target, codec };
}

/** Returns a rule for a field with the same path whose value has another form. */
export function recode(path: string, codec: Codec): Rule {
  return { type: "move", old: path, new: path, codec };
}

/** Returns a rule for a field that only the old version has; converting to the new version drops it. */
export function oldOnly(path: string, schema: Schema): Rule {
  return { type: "oldOnly", path, schema };
}

/** Returns a rule for a field that only the new version has; converting to the old version drops it. */
export function newOnly(path: string): Rule {
  return { type: "newOnly", path };
}

/** Returns a rule for a field that only the new version has; converting an old object copies the value of `from` into it. */
export function copied(path: string, from: string): Rule {
  return { type: "copied", path, from };
}

/** Returns a rule for a field that only the old version has and whose value is computed from the whole new object. */
export function computed(path: string, schema: Schema, value: (object: unknown) => unknown): Rule {
  return { type: "computed", path, schema, value };
}

/** Returns a rule for a field that is required in the new version and optional in the old one. */
export function optionalInOld(path: string): Rule {
  return { type: "optionalInOld", path };
}

/** Returns the rules with all their paths below `path`, which is the same in both versions. */
export function under(path: string, rules: readonly Rule[]): Rule[] {
  return rules.map((rule) => {
    if (rule.type === "move") return { ...rule, old: `${path}.${rule.old}`, new: `${path}.${rule.new}` };
    if (rule.type === "copied") return { ...rule, path: `${path}.${rule.path}`, from: `${path}.${rule.from}` };
    return { ...rule, path: `${path}.${rule.path}` };
  });
}
