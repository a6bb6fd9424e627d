import { compileJsonPath } from "@capstan/apimachinery";
import { usageError } from "../command.ts";
import { textOf } from "./custom-columns.ts";

type Part =
  | { type: "text"; text: string }
  | { type: "path"; path: string }
  | { type: "range"; path: string; body: Part[] };

/** Renders kubectl's JSONPath templates: text around `{.paths}`, `{"quoted text"}`, and `{range .path}…{end}`. */
export function renderTemplate(template: string, value: unknown): string {
  const tokens = tokenize(template);
  const { parts, rest } = parse(tokens, false);
  if (rest.length > 0) throw usageError("jsonpath: {end} without {range}");
  return render(parts, value);
}

/** Cuts at braces outside quotes; a template without any brace is one path. */
function tokenize(template: string): string[] {
  if (!template.includes("{")) return [`{${template}}`];
  const tokens: string[] = [];
  let at = 0;
  while (at < template.length) {
    if (template[at] !== "{") {
      const next = template.indexOf("{", at);
      const end = next < 0 ? template.length : next;
      tokens.push(template.slice(at, end));
      at = end;
      continue;
    }
    const end = closingBrace(template, at);
    tokens.push(template.slice(at, end + 1));
    at = end + 1;
  }
  return tokens;
}

function closingBrace(template: string, from: number): number {
  let quote = "";
  for (let at = from + 1; at < template.length; at++) {
    const char = template[at] ?? "";
    if (quote !== "") {
      if (char === "\\") at++;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === "}") return at;
  }
  throw usageError(
    `jsonpath: unclosed action in ${JSON.stringify(template)}`,
    "quote the whole template for the shell",
  );
}

function parse(tokens: readonly string[], inRange: boolean): { parts: Part[]; rest: readonly string[] } {
  const parts: Part[] = [];
  let left = tokens;
  for (;;) {
    const [token, ...rest] = left;
    if (token === undefined) {
      if (inRange) throw usageError("jsonpath: {range} without {end}");
      return { parts, rest: [] };
    }
    left = rest;
    const action = /^\{\s*([\s\S]*?)\s*\}$/.exec(token)?.[1];
    if (action === undefined) parts.push({ type: "text", text: token });
    else if (action === "end") return { parts, rest: inRange ? left : [token, ...left] };
    else if (/^range\s/.test(action)) {
      const body = parse(left, true);
      parts.push({ type: "range", path: relative(action.slice(6).trim()), body: body.parts });
      left = body.rest;
    } else if (/^["']/.test(action)) parts.push({ type: "text", text: unquote(action) });
    else parts.push({ type: "path", path: relative(action) });
  }
}

const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r" };

function unquote(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, (_, char: string) => ESCAPES[char] ?? char);
}

/** `@` is the current object, `$` the root; a path may begin with either. */
function relative(path: string): string {
  const bare = path.replace(/^[$@]/, "");
  if (bare === "") return "";
  return bare.startsWith(".") || bare.startsWith("[") ? bare : `.${bare}`;
}

function render(parts: readonly Part[], value: unknown): string {
  return parts
    .map((part) => {
      if (part.type === "text") return part.text;
      const found = part.path === "" ? [value] : compileJsonPath(part.path).find(value);
      if (part.type === "path") return found.map(textOf).join(" ");
      return found.map((item) => render(part.body, item)).join("");
    })
    .join("");
}
