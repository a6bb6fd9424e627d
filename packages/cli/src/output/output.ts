import { toGoYaml } from "@capstan/apimachinery";
import { usageError } from "../command.ts";
import { customColumns } from "./custom-columns.ts";
import { renderTemplate } from "./jsonpath-template.ts";

/** How objects are printed, as selected with kubectl's `-o`. */
export type OutputFormat =
  | { type: "table"; wide: boolean }
  | { type: "name" }
  | { type: "text"; render(value: unknown): string };

/** Parses the value of `-o`. */
export function parseOutput(text: string | undefined): OutputFormat {
  if (text === undefined || text === "" || text === "wide") return { type: "table", wide: text === "wide" };
  if (text === "name") return { type: "name" };
  if (text === "json") return { type: "text", render: toJsonText };
  if (text === "yaml") return { type: "text", render: toGoYaml };
  const [format, argument] = splitAt(text, "=");
  if (format === "jsonpath" && argument !== undefined)
    return { type: "text", render: (value) => renderTemplate(argument, value) };
  if (format === "custom-columns" && argument !== undefined) return { type: "text", render: customColumns(argument) };
  throw usageError(
    `unable to match a printer suitable for the output format ${JSON.stringify(text)}`,
    "formats are: json, yaml, wide, name, jsonpath=TEMPLATE, custom-columns=HEADER:PATH,…",
  );
}

/** Formats JSON as kubectl prints it. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 4)}\n`;
}

function splitAt(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
