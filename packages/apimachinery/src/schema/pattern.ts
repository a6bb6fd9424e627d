import { RE2JS } from "re2js";

/** Whether a text contains a match. */
export type PatternMatcher = (text: string) => boolean;

/** A compiled pattern, or why RE2 refuses it. */
export interface CompiledPattern {
  readonly match?: PatternMatcher;
  readonly error?: string;
}

const MAX_CACHED = 2000;
const cache = new Map<string, CompiledPattern>();
const compiledRe2 = new Map<string, RE2JS | string>();

/** Compiles an RE2 pattern once; patterns that are provably the same and linear in JavaScript use its engine. */
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
  if (isSimple(pattern)) {
    const native = new RegExp(pattern);
    return { match: (text) => native.test(text) };
  }
  return { match: (text) => re2.matcher(text).find() };
}

/**
 * Patterns that the JavaScript engine runs in linear time with RE2's meaning: anchored at both ends, ASCII only, a
 * sequence of literals, escapes of punctuation and classes of ASCII ranges, with at most one group level that is not
 * itself repeated unless its content starts with a literal that cannot be confused with what precedes it.
 * The proof obligation is kept small: at most one unbounded repeat may be active at a time, that is, every unbounded
 * repeat must be followed by an atom whose characters are disjoint from the repeated ones, or by the end.
 */
export function isSimple(pattern: string): boolean {
  if (!pattern.startsWith("^") || !pattern.endsWith("$") || pattern.length < 3) return false;
  if (!/^[\x20-\x7e]+$/.test(pattern)) return false;
  const atoms = parseAtoms(pattern.slice(1, -1));
  if (atoms === undefined) return false;
  for (let i = 0; i < atoms.length; i++) {
    const atom = atoms[i];
    if (atom === undefined || !atom.variable) continue;
    // The set of characters that may follow before a mandatory atom: must not overlap with the repeated set.
    for (let j = i + 1; j < atoms.length; j++) {
      const next = atoms[j];
      if (next === undefined) break;
      for (const code of next.chars) if (atom.chars.has(code)) return false;
      if (!next.optional) break;
    }
  }
  return true;
}

interface Atom {
  readonly chars: ReadonlySet<number>;
  readonly optional: boolean;
  readonly variable: boolean;
}

function parseAtoms(body: string): Atom[] | undefined {
  const atoms: Atom[] = [];
  let i = 0;
  while (i < body.length) {
    const chars = new Set<number>();
    const ch = body[i] ?? "";
    if (ch === "[") {
      const end = parseClass(body, i, chars);
      if (end === undefined) return undefined;
      i = end;
    } else if (ch === "\\") {
      const escaped = body[i + 1] ?? "";
      if (!/^[.\-/+*?()[\]{}|^$\\]$/.test(escaped)) return undefined;
      chars.add(escaped.charCodeAt(0));
      i += 2;
    } else if (/^[a-zA-Z0-9 _\-:;,@#%&=!<>~'"/]$/.test(ch)) {
      chars.add(ch.charCodeAt(0));
      i++;
    } else return undefined;
    const quantifier = /^(?:[*+?]|\{(\d{1,3})(?:(,)(\d{0,3}))?\})/.exec(body.slice(i));
    if (quantifier === null) {
      atoms.push({ chars, optional: false, variable: false });
      continue;
    }
    i += quantifier[0].length;
    if (/^[?*+{]/.test(body.slice(i))) return undefined;
    const [text, min, comma, max] = quantifier;
    const least = text === "*" || text === "?" ? 0 : text === "+" ? 1 : Number(min);
    const exact = min !== undefined && (comma === undefined || max === min);
    if (max !== undefined && max !== "" && Number(max) < least) return undefined;
    atoms.push({ chars, optional: least === 0, variable: !exact });
  }
  return atoms;
}

function parseClass(body: string, start: number, chars: Set<number>): number | undefined {
  const end = body.indexOf("]", start + 1);
  const content = end < 0 ? "" : body.slice(start + 1, end);
  if (content === "" || content.startsWith("^") || !/^[a-zA-Z0-9_\-./:+@ ]+$/.test(content)) return undefined;
  for (let i = 0; i < content.length; i++) {
    const from = content.charCodeAt(i);
    if (content[i + 1] === "-" && i + 2 < content.length) {
      const to = content.charCodeAt(i + 2);
      if (from > to || !/^(?:[a-z]{2}|[A-Z]{2}|[0-9]{2})$/.test(`${content[i]}${content[i + 2]}`)) return undefined;
      for (let code = from; code <= to; code++) chars.add(code);
      i += 2;
    } else chars.add(from);
  }
  return end + 1;
}
