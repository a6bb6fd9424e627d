import { isDns1123Label, type Random, randomSuffix } from "@capstan/apimachinery";
import { field } from "@capstan/capi";

const MAX_LENGTH = 63;
const CUT_LENGTH = 58;

/** What a name template may refer to, such as `{ machineSet: { name } }`. */
export type NameValues = Readonly<Record<string, unknown>>;

const FUNCTIONS: Record<string, (value: string, args: string[]) => string> = {
  lower: (value) => value.toLowerCase(),
  upper: (value) => value.toUpperCase(),
  trim: (value) => value.trim(),
  trunc: (value, [length]) => {
    const n = Number(length);
    return n >= 0 ? value.slice(0, n) : value.slice(n);
  },
  trimSuffix: (value, [suffix = ""]) =>
    suffix !== "" && value.endsWith(suffix) ? value.slice(0, -suffix.length) : value,
  trimPrefix: (value, [prefix = ""]) => (value.startsWith(prefix) ? value.slice(prefix.length) : value),
  replace: (value, [from = "", to = ""]) => value.replaceAll(from, to),
};

/**
 * Renders the part of Go templates that names need: `{{ .machineSet.name }}` with functions behind pipes (`| trunc 20`). Throws
 * with the cause when the template asks for anything else.
 */
export function renderNameTemplate(template: string, values: NameValues): string {
  return template.replace(/\{\{-?\s*(.*?)\s*-?\}\}/g, (_, expression: string) => evaluate(expression, values));
}

function evaluate(expression: string, values: NameValues): string {
  const [first = "", ...pipes] = expression.split("|").map((part) => part.trim());
  const words = tokens(first);
  const path = words.at(-1) ?? "";
  if (!/^(\.[A-Za-z][A-Za-z0-9]*)+$/.test(path))
    throw new Error(`name template: "${expression}" is not understood; use paths such as .machineSet.name or .random`);
  const value = field(values, ...path.slice(1).split("."));
  if (typeof value !== "string") throw new Error(`name template: there is no ${path}`);
  let text = words.length > 1 ? call(words.slice(0, -1), value, expression) : value;
  for (const pipe of pipes) text = call(tokens(pipe), text, expression);
  return text;
}

function call([name = "", ...args]: string[], value: string, expression: string): string {
  const apply = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (apply === undefined)
    throw new Error(
      `name template: function "${name}" in "${expression}" is not known; known are ${Object.keys(FUNCTIONS).join(", ")}`,
    );
  return apply(value, args);
}

function tokens(text: string): string[] {
  return (text.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, "$1"));
}

/** A name from a template; results that are too long are cut and made unique again, as upstream does. */
export function generateName(template: string, values: NameValues, random: Random): string {
  const name = renderNameTemplate(template, { ...values, random: randomSuffix(random) });
  const short = name.length > MAX_LENGTH ? `${name.slice(0, CUT_LENGTH)}${randomSuffix(random)}` : name;
  const problems = isDns1123Label(short);
  if (problems.length > 0) throw new Error(`name template gives "${short}", which is no valid name: ${problems[0]}`);
  return short;
}
