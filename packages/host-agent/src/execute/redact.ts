import { redactText } from "@capstan/runtime";

const MASK = "***";

/** Things that must never leave a host: bootstrap tokens, private keys, passwords in URLs, values after words that announce a secret. */
const PATTERNS: [RegExp, string][] = [
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, MASK],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK],
  [/(https?:\/\/[^:/\s]+:)[^@/\s]+@/g, `$1${MASK}@`],
  [
    /((?:token|password|passwd|secret|certificate-?key|key-data|authorization)["']?\s*[:=]\s*["']?(?:bearer\s+|basic\s+)?)[^\s"',]+/gi,
    `$1${MASK}`,
  ],
  [/(--(?:[a-z-]*token|certificate-key|password)\s+)\S+/gi, `$1${MASK}`],
];

/** Replaces the secrets in a text. */
export function redact(text: string): string {
  const cleaned = PATTERNS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
  // What every log leaves out as well: such as the tokens of service accounts.
  return redactText(cleaned).replaceAll("[hidden]", MASK);
}

/** Returns the end of some output, starting at a whole line: half a token, or a key without its first line, would not be recognised. */
export function wholeLines(cut: string): string {
  const start = /\n/.exec(cut) ?? /\s/.exec(cut);
  if (start === null) return "";
  const lines = cut.slice(start.index + 1);
  const end = /-----END [A-Z ]*PRIVATE KEY-----/.exec(lines);
  if (end === null || /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(lines.slice(0, end.index))) return lines;
  return `${MASK}${lines.slice(end.index + end[0].length)}`;
}

const TAIL_BYTES = 2048;

/** Returns the end of a text, at most 2 KiB and without secrets. */
export function tail(text: string): string {
  const cleaned = redact(text);
  return cleaned.length <= TAIL_BYTES ? cleaned : `…${cleaned.slice(cleaned.length - TAIL_BYTES)}`;
}

/** Returns the last line of some output, for messages. */
export function lastLine(output: string): string {
  return redact(output).trim().split("\n").at(-1)?.slice(0, 500) ?? "";
}
