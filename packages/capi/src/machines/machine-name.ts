import { isDns1123Label, type Random, randomSuffix } from "@capstan/apimachinery";
import type { ReconcileContext } from "@capstan/runtime";
import { renderTemplate } from "../go-template/render.ts";
import { Machine } from "../kinds/machine.ts";

const MAX_LENGTH = 63;
const CUT_LENGTH = 58;

/** The values that a name template may refer to, such as `{ machineSet: { name } }`. */
export type NameValues = Readonly<Record<string, unknown>>;

/**
 * Renders a name from a Go template such as `{{ .machineSet.name }}-{{ .random }}`. Long results are truncated and get a new random suffix,
 * like upstream. Throws if the result is not a valid name.
 */
export function generateName(template: string, values: NameValues, random: Random): string {
  const name = renderTemplate(template, { ...values, random: randomSuffix(random) });
  const short = name.length > MAX_LENGTH ? `${name.slice(0, CUT_LENGTH)}${randomSuffix(random)}` : name;
  const problems = isDns1123Label(short);
  if (problems.length > 0) throw new Error(`name template gives "${short}", which is not a valid name: ${problems[0]}`);
  return short;
}

/** Draws a name that no Machine of the namespace has. */
export function newMachineName(
  context: ReconcileContext,
  namespace: string | undefined,
  template: string,
  values: NameValues,
): string {
  for (;;) {
    const name = generateName(template, values, context.random);
    const taken = context.cache.get(Machine, { namespace, name }) !== undefined;
    // Without a random part an existing name would be generated forever; admission rejects such templates.
    if (!taken) return name;
    if (!template.includes(".random"))
      throw new Error(`spec.machineNaming.template gives the name ${name} twice: it must contain {{ .random }}`);
  }
}
