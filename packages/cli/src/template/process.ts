import { UserError } from "../command.ts";
import { applyOperator } from "./functions.ts";
import { parseTemplate, type TemplatePart } from "./parse.ts";

/** Returns a variable's value; undefined when it is not set. */
export type LookUp = (name: string) => string | undefined;

/** Old templates write `${ VAR }`. */
const SPACED = /\$\{\s+[A-Za-z0-9_$]+\s+\}|\$\{\s+[A-Za-z0-9_$]+\}|\$\{[A-Za-z0-9_$]+\s+\}/g;

function read(text: string): TemplatePart[] {
  return parseTemplate(text.replace(SPACED, (found) => found.replace(/\s/g, "")));
}

/** Returns the variables of a template with their defaults; a required variable has none. */
export function templateVariables(text: string): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const part of read(text)) {
    if (typeof part === "string" || found.has(part.name)) continue;
    // The first occurrence wins, as in clusterctl.
    const standard = part.arguments.map((arg) => (typeof arg === "string" ? arg : `\${${arg.name}}`)).join("");
    found.set(part.name, standard === "" ? undefined : standard);
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Substitutes the variables of a template; the error names every variable that has neither value nor default. */
export function fillTemplate(text: string, lookUp: LookUp): string {
  const missing = [...templateVariables(text)]
    .filter(([name, standard]) => standard === undefined && lookUp(name) === undefined)
    .map(([name]) => name);
  if (missing.length > 0)
    throw new UserError(`value for variables [${missing.join(", ")}] is not set`, {
      hint: `set them in the environment (${missing[0]}=… capstan generate …) or in the clusterctl config file`,
    });
  return fill(read(text), lookUp);
}

function fill(parts: readonly TemplatePart[], lookUp: LookUp): string {
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      const args = part.arguments.map((arg) => fill([arg], lookUp));
      return applyOperator(part.operator, lookUp(part.name) ?? "", args);
    })
    .join("");
}
