import { goQuote, unsafeCharacter } from "@capstan/apimachinery";
import { parseDocument } from "yaml";

/** Text that is the same plain in YAML 1.1 and 1.2, most of what people write: no need to ask the parser. */
const SURELY_PLAIN = /^[A-Za-z/][A-Za-z0-9/._=@+-]{5,}$/;

/**
 * Formats a YAML value as upstream does: unquoted, unless YAML would read it as something else (`true`, `a: b`). A value with a jinja
 * expression stays unquoted, because the template is rendered before the YAML is parsed.
 */
export function plain(text: string): string {
  return SURELY_PLAIN.test(text) || hasJinja(text) || readsBack(text) ? text : goQuote(text);
}

/** Returns whether cloud-init would render something in this text. */
export function hasJinja(text: string): boolean {
  return /\{\{|\{%|\{#/.test(text);
}

function readsBack(text: string): boolean {
  // cloud-init breaks lines at more characters than the parser here.
  if (text.includes("\n") || unsafeCharacter(text) !== undefined) return false;
  const document = parseDocument(`- key: ${text}`, { version: "1.1", logLevel: "silent" });
  if (document.errors.length > 0) return false;
  const value: unknown = document.toJS();
  return Array.isArray(value) && (value[0] as { key?: unknown } | null)?.key === text;
}

/** Quotes a text with single quotes for YAML. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Indents every line, including empty ones, as upstream's template function does. */
export function indent(text: string, spaces: number): string {
  const margin = " ".repeat(spaces);
  return margin + text.split("\n").join(`\n${margin}`);
}
