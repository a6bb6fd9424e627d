const NULL = /^(?:~|null)?$/;
const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const DECIMAL = /^-?(?:0|[1-9][0-9]*)\.[0-9]+$/;

/** What some version of YAML, or some reader of it, takes for something other than text. */
const AMBIGUOUS = new RegExp(
  [
    "(?:y|n|yes|no|on|off|true|false|null)",
    "[-+]?0[xob].*",
    "[-+]?[0-9.][0-9._]*(?:e[-+]?[0-9_]*)?",
    "[-+]?\\.(?:inf|nan)?",
    "[-+]?[0-9][0-9_]*(?::[0-9]+)+(?:\\.[0-9_]*)?",
    "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*",
    "<<|=",
  ]
    .map((each) => `^(?:${each})$`)
    .join("|"),
  "is",
);

/** An address or a version has two dots or more: text to all. */
const SEVERAL_DOTS = /^[0-9]+(?:\.[0-9]+){2,}$/;

/** What a scalar without quotes stands for; undefined when readers of YAML disagree about it. */
export function plainScalar(text: string): string | number | boolean | null | undefined {
  if (NULL.test(text)) return null;
  if (text === "true" || text === "false") return text === "true";
  if (INTEGER.test(text)) return Number.isSafeInteger(Number(text)) && text !== "-0" ? Number(text) : undefined;
  if (DECIMAL.test(text)) return text.length <= 16 && !/^-0\.0*$/.test(text) ? Number(text) : undefined;
  if (SEVERAL_DOTS.test(text)) return text;
  return AMBIGUOUS.test(text) ? undefined : text;
}
