import { isObject } from "@capstan/apimachinery";
import { UserDataError } from "../errors.ts";
import { evaluate, type JinjaValue } from "./jinja-expression.ts";

type Block = { readonly keyword: "if"; readonly active: boolean; taken: boolean; writing: boolean };

const TAG = /\{\{-?([\s\S]*?)-?\}\}|\{%-?([\s\S]*?)-?%\}|\{#[\s\S]*?#\}/g;

/**
 * Renders the part of jinja that user data needs: `{{ ds.meta_data.x | filter }}`, `{% if %}`/`{% elif %}`/`{% else %}`,
 * `{% raw %}` and comments, with `{{-`-style trimming. Like cloud-init, a missing variable becomes `CI_MISSING_JINJA_VAR/name`, and
 * the end of a line right behind a block or a comment goes with it.
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
    TAG.lastIndex = position;
  };
  TAG.lastIndex = 0;
  for (let match = TAG.exec(text); match !== null; match = TAG.exec(text)) {
    const [tag, expression, statement] = match;
    literal(text.slice(position, match.index), tag[2] === "-");
    trimNext = tag.at(-3) === "-";
    position = TAG.lastIndex;
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
