const MASK = "***";

/** Things that must never leave a host: bootstrap tokens, private keys, passwords in URLs, long base64 secrets after known words. */
const PATTERNS: [RegExp, string][] = [
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, MASK],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, MASK],
  [/(https?:\/\/[^:/\s]+:)[^@/\s]+@/g, `$1${MASK}@`],
  [/((?:token|password|passwd|secret|certificate-key)["']?\s*[:=]\s*["']?)[^\s"',]+/gi, `$1${MASK}`],
];

/** Text without secrets. */
export function redact(text: string): string {
  return PATTERNS.reduce((cleaned, [pattern, replacement]) => cleaned.replace(pattern, replacement), text);
}

const TAIL_BYTES = 2048;

/** The end of a text, at most 2 KiB, secrets left out. */
export function tail(text: string): string {
  const cleaned = redact(text);
  return cleaned.length <= TAIL_BYTES ? cleaned : `…${cleaned.slice(cleaned.length - TAIL_BYTES)}`;
}
