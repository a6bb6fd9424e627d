/** CEL rules about the object of rules.json, many in one schema: whether each is true, the error it fails with, or why it is rejected. */
import { CRDS, create, definition, withSpec } from "./schemas.mjs";

const AT_ONCE = 12;

/** A rule with a name: answers about the rule contain the name. */
export const named = (rule, index) => ({ rule, message: `#${index}#` });

/** What the causes of a refused object say about a rule: an error without the name of the rule. */
export function outcome(messages, index) {
  const found = messages.filter((message) => message.includes(`#${index}#`));
  if (found.length > 1) throw new Error(`several answers: ${found.join("; ")}`);
  const text = found[0]?.replace(/^Invalid value(?:: "object")?: /, "");
  if (text === undefined) return { is: true };
  return text === `#${index}#` ? { is: false } : { error: text.replace(/ ?(evaluating rule|for rule): #\d+#$/, "") };
}

export const expressions = {
  file: "src/cel/testdata/expressions.json",
  async record({ call, before, load }) {
    const { properties, spec } = load("src/schema/testdata/rules.json");
    const schemaWith = (some) =>
      withSpec({
        type: "object",
        properties,
        "x-kubernetes-validations": some.map(({ rule }, index) => named(rule, index)),
      });
    const refused = [];
    const accepted = [];
    for (const { rule } of before) {
      const { status } = await call("POST", `${CRDS}?dryRun=All`, { body: definition("rule", schemaWith([{ rule }])) });
      (status === 201 ? accepted : refused).push({ rule });
    }
    const answers = new Map(refused.map(({ rule }) => [rule, { refused: true }]));
    for (let from = 0; from < accepted.length; from += AT_ONCE) {
      const group = accepted.slice(from, from + AT_ONCE);
      const name = `expressions${from}`;
      const { status, text } = await call("POST", CRDS, { body: definition(name, schemaWith(group)) });
      if (status !== 201) throw new Error(`several rules together are refused: ${text}`);
      const { json } = await create(call, name, spec);
      const messages = (json.details?.causes ?? []).map(({ message }) => message);
      for (const [index, { rule }] of group.entries()) answers.set(rule, outcome(messages, index));
    }
    return before.map(({ rule }) => ({ rule, ...answers.get(rule) }));
  },
};
