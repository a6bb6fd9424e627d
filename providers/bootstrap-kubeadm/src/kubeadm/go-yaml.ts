import { goScalar, literalScalar } from "./go-yaml-scalar.ts";

/**
 * YAML as Go's library under Kubernetes writes it: keys sorted, lists not indented, long texts folded, quotes only where needed. The
 * same bytes as upstream, so that what either writes can be compared.
 */
export function goYaml(value: unknown): string {
  if (isMap(value)) {
    const lines = mapLines(value, 0);
    return lines === "" ? "{}\n" : lines;
  }
  return `${scalar(value, 0, 0)}\n`;
}

type Json = Record<string, unknown>;

function isMap(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mapLines(map: Json, indent: number): string {
  return Object.keys(map)
    .filter((key) => map[key] !== undefined)
    .sort(compareKeys)
    .map((key) => {
      const name = goScalar(key, { column: indent, indent, foldable: false });
      return `${" ".repeat(indent)}${name}:${valueText(map[key], indent, indent + name.length + 1)}`;
    })
    .join("");
}

/** What follows `key:`, with the line's end. */
function valueText(value: unknown, indent: number, column: number): string {
  if (Array.isArray(value)) return value.length === 0 ? " []\n" : `\n${listLines(value, indent)}`;
  if (isMap(value)) return isEmpty(value) ? " {}\n" : `\n${mapLines(value, indent + 2)}`;
  if (typeof value === "string" && value.includes("\n")) {
    const literal = literalScalar(value, indent + 2);
    if (literal !== undefined) return ` ${literal}`;
  }
  return ` ${scalar(value, column + 1, indent + 2)}\n`;
}

function isEmpty(map: Json): boolean {
  return Object.values(map).every((value) => value === undefined);
}

function listLines(list: readonly unknown[], indent: number): string {
  return list
    .map((item) => {
      const margin = `${" ".repeat(indent)}- `;
      if (isMap(item) && !isEmpty(item)) return margin + mapLines(item, indent + 2).slice(indent + 2);
      if (Array.isArray(item) && item.length > 0) return margin + listLines(item, indent + 2).slice(indent + 2);
      return `${" ".repeat(indent)}-${valueText(item, indent, indent + 1)}`;
    })
    .join("");
}

function scalar(value: unknown, column: number, indent: number): string {
  if (typeof value === "string") return goScalar(value, { column, indent, foldable: true });
  return value === null || value === undefined ? "null" : JSON.stringify(value);
}

/** Numbers inside keys sort by value, as go-yaml has it; everything else by code point, letters after the rest. */
function compareKeys(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < left.length && i < right.length; i++) {
    const [l = "", r = ""] = [left[i], right[i]];
    if (l === r) continue;
    const [leftLetter, rightLetter] = [isLetter(l), isLetter(r)];
    if (leftLetter !== rightLetter) return leftLetter ? 1 : -1;
    const [leftNumber, rightNumber] = [digitsAt(left, i), digitsAt(right, i)];
    if (leftNumber !== "" && rightNumber !== "" && leftNumber !== rightNumber)
      return Number(leftNumber) - Number(rightNumber) || leftNumber.length - rightNumber.length;
    return (l.codePointAt(0) ?? 0) - (r.codePointAt(0) ?? 0);
  }
  return left.length - right.length;
}

function isLetter(character: string): boolean {
  return /\p{L}/u.test(character);
}

function digitsAt(characters: readonly string[], start: number): string {
  let end = start;
  while (/\d/.test(characters[end] ?? "")) end++;
  return characters.slice(start, end).join("");
}
