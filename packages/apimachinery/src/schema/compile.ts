import { type FieldError, invalidValue } from "../field-error.ts";
import { isValid } from "./check.ts";
import { Correlation } from "./correlation.ts";
import { applyDefaults } from "./defaults.ts";
import { checkEmbedded } from "./embedded-meta.ts";
import { checkListTypes } from "./list-types.ts";
import { nodeOf } from "./node.ts";
import { pruneRoot } from "./prune.ts";
import { runRules } from "./rule-validator.ts";
import type { JSONSchemaProps } from "./types.ts";
import { validateRoot } from "./validate.ts";

/** How an object is validated. */
export interface ValidateOptions {
  /**
   * The stored object on update: turns on ratcheting and transition rules. It must have passed this schema before, as parts that the
   * object shares with it are not checked again; pass a copy of one that may not have.
   */
  readonly old?: unknown;
}

/** A schema ready for use on many objects. */
export interface CompiledSchema {
  /** Deletes unknown fields in place and returns their paths; `root` keeps apiVersion, kind and metadata. */
  prune(object: Record<string, unknown>, options: { root: boolean }): string[];
  /** Drops nulls that are not allowed and fills in defaults, in place. */
  applyDefaults(object: Record<string, unknown>): void;
  /** All errors of the object, with Kubernetes' messages. */
  validate(object: unknown, options?: ValidateOptions): FieldError[];
  /** Whether the schema has x-kubernetes-validations anywhere. */
  readonly hasRules: boolean;
}

const compiled = new WeakMap<JSONSchemaProps, CompiledSchema>();

/** Prepares a schema; the same schema object gives the same result, so that many servers share it. */
export function compileSchema(schema: JSONSchemaProps): CompiledSchema {
  let result = compiled.get(schema);
  if (result === undefined) {
    result = compile(schema);
    compiled.set(schema, result);
  }
  return result;
}

const BLOCKING: ReadonlySet<string> = new Set([
  "FieldValueRequired",
  "FieldValueNotSupported",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

function compile(schema: JSONSchemaProps): CompiledSchema {
  const node = nodeOf(schema);
  return {
    get hasRules() {
      return node.features.rules;
    },
    prune: (object, { root }) => pruneRoot(node, object, root),
    applyDefaults: (object) => applyDefaults(node, object),
    validate(object, options = {}) {
      const correlation = options.old === undefined ? undefined : new Correlation(node, object, options.old);
      const errors: FieldError[] = [];
      if (!isValid(node, object, options.old)) {
        for (const { error } of validateRoot(node, object, correlation).errors) errors.push(error);
      }
      if (node.features.embedded) checkEmbedded(node, object, "", errors);
      if (node.features.listTypes) {
        const found: FieldError[] = [];
        checkListTypes(node, object, "", found, options.old);
        // An object that had duplicates before may keep them, and get others.
        const before: FieldError[] = [];
        if (found.length > 0 && options.old !== undefined) checkListTypes(node, options.old, "", before);
        if (before.length === 0) errors.push(...found);
      }
      if (!node.features.rules) return errors;
      if (errors.some((error) => BLOCKING.has(error.type))) {
        errors.push(
          invalidValue(
            "<nil>",
            null,
            "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
          ),
        );
        return errors;
      }
      for (const error of runRules(node, object, options.old, correlation)) errors.push(error);
      return errors;
    },
  };
}
