import { type CelType, parseType, splitTop } from "./types.ts";
import type { Value } from "./values.ts";

/** What a function does with its arguments; the receiver of a member function comes first. */
export type Implementation = (...args: Value[]) => Value;

/** One typed variant of a function. */
export interface Overload {
  readonly id: string;
  readonly fn: string;
  readonly member: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly run: Implementation;
}

const overloads = new Map<string, Overload[]>();

/**
 * Declares a function: `define("charAt", "string_char_at_int", "string.(int):string", run)`; a signature without
 * receiver is a global function.
 */
export function define(fn: string, id: string, signature: string, run: Implementation): void {
  const match = /^(?:(.+?)\.)?\((.*)\):(.+)$/.exec(signature);
  if (match === null) throw new Error(`bad signature ${signature}`);
  const receiver = match[1];
  const params = [...(receiver === undefined ? [] : [receiver]), ...splitTop(match[2] ?? "")].map(parseType);
  const overload: Overload = {
    id,
    fn,
    member: receiver !== undefined,
    params,
    result: parseType(match[3] ?? "dyn"),
    run,
  };
  const known = overloads.get(fn);
  if (known === undefined) overloads.set(fn, [overload]);
  else known.push(overload);
}

/** All variants of a function, undefined when there is none of that name. */
export function overloadsOf(fn: string): readonly Overload[] | undefined {
  return overloads.get(fn);
}
