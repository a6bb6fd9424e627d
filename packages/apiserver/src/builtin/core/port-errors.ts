import { type FieldError, invalidValue } from "@capstan/apimachinery";

/** A port number out of range. */
export function portErrors(port: unknown, field: string): FieldError[] {
  const ok = typeof port === "number" && Number.isInteger(port) && port >= 1 && port <= 65535;
  return ok ? [] : [invalidValue(field, port ?? 0, "must be between 1 and 65535, inclusive")];
}
