import { RE2JS } from "re2js";
import { compileDfa } from "./dfa.ts";

/** Whether a text contains a match. */
export type PatternMatcher = (text: string) => boolean;

/** A compiled pattern, or why RE2 refuses it. */
export interface CompiledPattern {
  readonly match?: PatternMatcher;
  readonly error?: string;
}

const MAX_CACHED = 2000;
/** Compiling takes some milliseconds per KiB; no rule of a schema needs more. */
const MAX_LENGTH = 8 * 1024;
const cache = new Map<string, CompiledPattern>();
const compiledRe2 = new Map<string, RE2JS | string>();

/** Compiles an RE2 pattern once; simple anchored patterns run on a small automaton of our own. */
export function compilePattern(pattern: string): CompiledPattern {
  let compiled = cache.get(pattern);
  if (compiled === undefined) {
    compiled = compile(pattern);
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(pattern, compiled);
  }
  return compiled;
}

/** The RE2 program of a pattern, or the error text of Go's regexp package. */
export function compileRe2(pattern: string): RE2JS | string {
  let compiled = compiledRe2.get(pattern);
  if (compiled === undefined) {
    if (pattern.length > MAX_LENGTH)
      return `error parsing regexp: expression is longer than ${MAX_LENGTH} characters: split it`;
    try {
      compiled = RE2JS.compile(pattern);
    } catch (error) {
      compiled = error instanceof Error ? error.message : String(error);
    }
    if (compiledRe2.size >= MAX_CACHED) compiledRe2.clear();
    compiledRe2.set(pattern, compiled);
  }
  return compiled;
}

function compile(pattern: string): CompiledPattern {
  const re2 = compileRe2(pattern);
  if (typeof re2 === "string") return { error: re2 };
  const fast = compileDfa(pattern);
  if (fast !== undefined) return { match: (text) => fast(text) ?? re2.matcher(text).find() };
  return { match: (text) => re2.matcher(text).find() };
}
