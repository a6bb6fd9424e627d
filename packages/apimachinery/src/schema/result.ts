import type { FieldError } from "../field-error.ts";

/** An error with the text kube-openapi would give it; errors with equal texts are reported once. */
export interface SchemaError {
  readonly text: string;
  readonly error: FieldError;
}

/** What a pass over a value found; `matches` counts passed checks and picks the nearest alternative of anyOf/oneOf. */
export class Result {
  readonly errors: SchemaError[] = [];
  matches = 0;

  /** Adds an error unless the same text was reported already. */
  add(error: SchemaError): void {
    if (!this.errors.some((known) => known.text === error.text)) this.errors.push(error);
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
