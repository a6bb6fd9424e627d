import type { FieldError } from "../field-error.ts";

/** An error with the text kube-openapi would give it; errors with equal texts are reported once. */
export interface SchemaError {
  readonly text: string;
  readonly error: FieldError;
}

/** Limits the work of formatting errors for an object with ten thousand invalid items. */
const MAX_ERRORS = 1000;
/** Below this, looking through the list is faster than a set. */
const FEW = 8;

/** What a pass over a value found; `matches` counts passed checks and picks the nearest alternative of anyOf/oneOf. */
export class Result {
  readonly errors: SchemaError[] = [];
  matches = 0;
  #texts: Set<string> | undefined;

  /** Adds an error unless the same text was reported already. */
  add(error: SchemaError): void {
    const { errors } = this;
    if (errors.length >= MAX_ERRORS) return;
    if (errors.length < FEW) {
      if (errors.some((known) => known.text === error.text)) return;
    } else {
      this.#texts ??= new Set(errors.map((known) => known.text));
      if (this.#texts.has(error.text)) return;
      this.#texts.add(error.text);
    }
    errors.push(error);
  }

  /** Whether more errors would not be kept. */
  get full(): boolean {
    return this.errors.length >= MAX_ERRORS;
  }

  /** Takes over errors and matches of a part. */
  merge(part: Result): void {
    for (const error of part.errors) this.add(error);
    this.matches += part.matches;
  }

  /** Whether nothing is wrong. */
  get ok(): boolean {
    return this.errors.length === 0;
  }
}
