import type { JSONSchemaProps } from "./types.ts";

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

/**
 * Reads the `fieldPath` of a rule (`.spec.x`, `['a-b']`) and returns it as a field path below the rule's node;
 * undefined when it is malformed or names no declared field.
 */
export function normalizeFieldPath(path: string, schema: JSONSchemaProps): string | undefined {
  let rest = path;
  let current: JSONSchemaProps | undefined = schema;
  let result = "";
  while (rest !== "") {
    const token = nextName(rest);
    if (token === undefined || current === undefined) return undefined;
    rest = rest.slice(token.length);
    if (current.properties !== undefined) {
      if (!Object.hasOwn(current.properties, token.name)) return undefined;
      current = current.properties[token.name];
      result = result === "" ? token.name : `${result}.${token.name}`;
    } else if (typeof current.additionalProperties === "object") {
      current = current.additionalProperties;
      result = `${result}[${token.name}]`;
    } else return undefined;
  }
  return result;
}

function nextName(text: string): { name: string; length: number } | undefined {
  const dotted = /^\.([^.[\]]+)/.exec(text);
  if (dotted !== null) return { name: dotted[1] ?? "", length: dotted[0].length };
  const quoted = /^\['((?:[^'\\]|\\.)*)'\]/.exec(text);
  if (quoted === null) return undefined;
  let valid = true;
  const name = (quoted[1] ?? "").replace(/\\(.)/g, (_all, ch: string) => {
    valid &&= Object.hasOwn(ESCAPES, ch);
    return ESCAPES[ch] ?? "";
  });
  return valid ? { name, length: quoted[0].length } : undefined;
}
