import { badRequest } from "./errors.ts";

/** One condition on one field. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** Conditions on fields that must all hold. */
export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  /** True when everything matches. */
  readonly empty: boolean;
  /** `get` returns the field's text; a missing field compares as the empty string. */
  matches(get: (field: string) => string | undefined): boolean;
  /** The value a field must have, when the selector demands exactly one. */
  exact(field: string): string | undefined;
  toString(): string;
}

/** Parses the text of a `fieldSelector` parameter: `a=b,c!=d`; `\`, `,` and `=` in values are escaped by a backslash. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements = splitTerms(text)
    .filter((term) => term !== "")
    .sort()
    .map((term) => parseTerm(text, term))
    // As upstream: what demands nothing of nothing is left out.
    .filter(({ field, value }) => field !== "" || value !== "");
  return fieldSelector(requirements);
}

/** A selector from requirements. */
export function fieldSelector(requirements: readonly FieldRequirement[]): FieldSelector {
  return {
    requirements,
    empty: requirements.length === 0,
    matches: (get) => requirements.every((r) => ((get(r.field) ?? "") === r.value) === (r.operator === "=")),
    exact: (field) => requirements.find((r) => r.field === field && r.operator === "=")?.value,
    toString: () => requirements.map((r) => `${r.field}${r.operator}${escapeValue(r.value)}`).join(","),
  };
}

function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, "\\$&");
}

/** Splits at commas that are not escaped. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === ",") {
      terms.push(text.slice(start, i));
      start = i + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function parseTerm(text: string, term: string): FieldRequirement {
  const match = /!=|==|=/.exec(term);
  if (match === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
  return {
    field: term.slice(0, match.index),
    operator: match[0] === "!=" ? "!=" : "=",
    value: unescapeValue(term.slice(match.index + match[0].length)),
  };
}

function unescapeValue(text: string): string {
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === "\\") {
      const next = String.fromCodePoint(text.codePointAt(++i) ?? 0);
      if (i >= text.length) throw badRequest("invalid field selector: invalid escape sequence: \\");
      if (next !== "\\" && next !== "," && next !== "=") {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${next}`);
      }
      out += next;
    } else if (c === "," || c === "=") {
      throw badRequest(`invalid field selector: unescaped character in value: ${c.charCodeAt(0)}`);
    } else out += c;
  }
  return out;
}
