import { UserError } from "../command.ts";

/** Applies an operator to a variable's value. Positions and lengths count bytes, as in clusterctl. */
export function applyOperator(operator: string, value: string, args: readonly string[]): string {
  const [first = "", second] = args;
  switch (operator) {
    case ",":
      return firstLetter(value, (letter) => letter.toLowerCase());
    case ",,":
      return value.toLowerCase();
    case "^":
      return firstLetter(value, (letter) => letter.toUpperCase());
    case "^^":
      return value.toUpperCase();
    case "#":
      return args.length === 0 ? String(Buffer.byteLength(value)) : trim(value, first, false);
    case "##":
      return trim(value, first, true);
    case "%":
      return reverse(trim(reverse(value), reverse(first), false));
    case "%%":
      return reverse(trim(reverse(value), reverse(first), true));
    case ":":
      return substring(value, first, second);
    case "/#":
      return second !== undefined && value.startsWith(first) ? second + value.slice(first.length) : value;
    case "/%":
      return second !== undefined && value.endsWith(first)
        ? value.slice(0, value.length - first.length) + second
        : value;
    case "/":
      return value.replace(first, () => second ?? "");
    case "//":
      return value.replaceAll(first, () => second ?? "");
    default:
      return value === "" ? args.join("") : value;
  }
}

function firstLetter(value: string, change: (letter: string) => string): string {
  const [letter] = value;
  return letter === undefined ? value : change(letter) + value.slice(letter.length);
}

function substring(value: string, position: string, length: string | undefined): string {
  const bytes = Buffer.from(value);
  const start = integer(position);
  if (start === undefined) return value;
  const from = start < 0 ? Math.max(0, bytes.length + start) : start;
  if (length === undefined) return bytes.subarray(from).toString();
  const count = integer(length);
  if (count === undefined) return value;
  if (count < 0 && from + count < bytes.length)
    throw new UserError(`template: a substring cannot be ${count} long`, { hint: "write ${VAR:POSITION:LENGTH}" });
  return from + count >= bytes.length ? bytes.subarray(from).toString() : bytes.subarray(from, from + count).toString();
}

function integer(text: string): number | undefined {
  return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function reverse(text: string): string {
  return [...text].reverse().join("");
}

/** Removes the shortest or longest prefix that matches a shell pattern. */
function trim(value: string, pattern: string, longest: boolean): string {
  const matches = shellPattern(pattern);
  if (matches === undefined) return value;
  const lengths = Array.from({ length: value.length }, (_, i) => (longest ? value.length - i : i + 1));
  const found = lengths.find((length) => matches(value.slice(0, length)));
  return found === undefined ? value : value.slice(found);
}

/** `*`, `?`, `[a-z]`, `[^a-z]` and backslash; undefined when the pattern is broken. */
function shellPattern(pattern: string): ((text: string) => boolean) | undefined {
  let source = "";
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? "";
    if (char === "*") source += "[\\s\\S]*";
    else if (char === "?") source += "[\\s\\S]";
    else if (char === "\\") {
      const next = pattern[++at];
      if (next === undefined) return undefined;
      source += quote(next);
    } else if (char === "[") {
      const end = pattern.indexOf("]", at + (pattern[at + 1] === "^" ? 3 : 2));
      if (end < 0) return undefined;
      source += `[${pattern.slice(at + 1, end).replace(/[\\\]]/g, "\\$&")}]`;
      at = end;
    } else source += quote(char);
  }
  try {
    const expression = new RegExp(`^(?:${source.replace(/(\[\\s\\S\]\*)+/g, "[\\s\\S]*")})$`, "u");
    return (text) => expression.test(text);
  } catch {
    return undefined;
  }
}

function quote(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}
