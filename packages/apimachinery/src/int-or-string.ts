import { badRequest } from "./errors.ts";
import { goQuote } from "./go-text.ts";

/** A number, or a percentage such as `25%`. */
export type IntOrString = number | string;

/** Resolves the value against `total`: the number itself, or the percentage of the total, rounded as specified. Throws BadRequest. */
export function scaledValue(value: IntOrString, total: number, roundUp: boolean): number {
  if (typeof value === "number") return value;
  const match = /^(\d{1,9})%$/.exec(value);
  if (match === null)
    throw badRequest(
      `invalid value for IntOrString: ${goQuote(String(value))} is neither a number nor a percentage such as "25%"`,
    );
  const exact = (Number(match[1]) * total) / 100;
  return roundUp ? Math.ceil(exact) : Math.floor(exact);
}
