import { isObject } from "@capstan/apimachinery";
import { UserDataError } from "../errors.ts";
import { evaluate, type JinjaValue } from "./jinja-expression.ts";

type Block = { readonly keyword: "if"; readonly active: boolean; taken: boolean; writing: boolean };

/** A tag: where it begins and ends, its text, and what it holds. */
interface Tag {
  readonly index: number;
  readonly end: number;
  readonly text: string;
  readonly expression: string | undefined;
  readonly statement: string | undefined;
}

const CLOSING: Readonly<Record<string, string>> = { "{{": "}}", "{%": "%}", "{#": "#}" };

/** Finds tags one after the other. What is never closed is looked for once: searching again from each opening takes quadratic time. */
function tagFinder(text: string): (from: number) => Tag | undefined {
  const unclosed = new Set<string>();
  return (from) => {
    const opening = /\{[{%#]/g;
    opening.lastIndex = from;
    for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
      const [open] = match;
      const { index } = match;
      const closing = CLOSING[open] ?? "";
      const start = index + (open !== "{#" && text[index + 2] === "-" ? 3 : 2);
      const close = unclosed.has(open) ? -1 : text.indexOf(closing, start);
      if (close < 0) {
        unclosed.add(open);
        opening.lastIndex = index + 1;
        continue;
      }
      const end = close + closing.length;
      const inside = text.slice(start, close > start && text[close - 1] === "-" ? close - 1 : close);
      return {
        index,
        end,
        text: text.slice(index, end),
        expression: open === "{{" ? inside : undefined,
        statement: open === "{%" ? inside : undefined,
      };
    }
    return undefined;
  };
}

/**
 * Renders the subset of jinja that user data needs: `{{ ds.meta_data.x | filter }}`, `{% if %}`/`{% elif %}`/`{% else %}`, `{% raw %}` and
 * comments, with `{{-`-style trimming. As in cloud-init, a missing variable becomes `CI_MISSING_JINJA_VAR/name`, and the newline after a
 * block or a comment is removed.
 */
export function renderJinja(text: string, variables: Record<string, unknown>): string {
  const out: string[] = [];
  const blocks: Block[] = [];
  const writing = (): boolean => blocks.at(-1)?.writing ?? true;
  let position = 0;
  let trimNext = false;
  const literal = (part: string, trimEnd: boolean): void => {
    let kept = trimNext ? part.trimStart() : part;
    if (trimEnd) kept = kept.trimEnd();
    if (writing()) out.push(kept);
  };
  const passLineEnd = (): void => {
    if (text[position] === "\n") position++;
  };
  const next = tagFinder(text);
  for (let tag = next(0); tag !== undefined; tag = next(position)) {
    const { expression, statement } = tag;
    literal(text.slice(position, tag.index), tag.text[2] === "-");
    trimNext = tag.text.at(-3) === "-";
    position = tag.end;
    if (expression === undefined && statement?.trim() !== "raw") passLineEnd();
    if (expression !== undefined && writing()) out.push(textOf(evaluate(expression, variables)));
    if (statement === undefined) continue;
    if (statement.trim() === "raw") {
      const end = /\{%-?\s*endraw\s*-?%\}/g;
      end.lastIndex = position;
      const found = end.exec(text);
      if (found === null) throw new UserDataError("jinja: {% raw %} without {% endraw %}");
      if (writing()) out.push(text.slice(position, found.index));
      position = end.lastIndex;
      passLineEnd();
    } else control(statement.trim(), blocks, writing(), variables);
  }
  if (blocks.length > 0) throw new UserDataError("jinja: {% if %} without {% endif %}");
  literal(text.slice(position), false);
  return out.join("");
}

function control(statement: string, blocks: Block[], outer: boolean, variables: Record<string, unknown>): void {
  const [keyword = "", ...rest] = statement.split(/\s+/);
  const holds = (): boolean => truthy(evaluate(rest.join(" "), variables));
  if (keyword === "if") {
    const taken = outer && holds();
    blocks.push({ keyword: "if", active: outer, taken, writing: taken });
    return;
  }
  const block = blocks.at(-1);
  if (block === undefined || !["elif", "else", "endif"].includes(keyword))
    throw new UserDataError(`jinja: {% ${keyword} %} is not supported here: only if, elif, else, endif and raw are`);
  if (keyword === "endif") {
    blocks.pop();
    return;
  }
  block.writing = block.active && !block.taken && (keyword === "else" || holds());
  block.taken ||= block.writing;
}

function truthy(value: JinjaValue): boolean {
  if (value.missing || value.value === null || value.value === undefined) return false;
  if (Array.isArray(value.value)) return value.value.length > 0;
  if (isObject(value.value)) return Object.keys(value.value).length > 0;
  return value.value !== "" && value.value !== 0 && value.value !== false;
}

/** As Python prints it, since that is what cloud-init does. */
function textOf(value: JinjaValue): string {
  if (value.missing) return `CI_MISSING_JINJA_VAR/${value.name}`;
  if (value.value === true) return "True";
  if (value.value === false) return "False";
  if (value.value === null || value.value === undefined) return "None";
  return typeof value.value === "string" ? value.value : JSON.stringify(value.value);
}
