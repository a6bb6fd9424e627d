const HIDDEN = "[hidden]";

/** Field names whose values never belong into a log. */
const SECRET_FIELDS =
  /^(?:data|stringData|binaryData|.*token|.*password|.*secret|authorization|.*key(?:pem|data)|client-key-data|kubeconfig|privatekey|userdata|cookie)$/i;
/** Things that look like such fields but only name something. */
const HARMLESS_FIELDS = /^(?:dataSecretName|.*secretName|.*SecretRef|secret|bootstrapTokenID)$/i;

const PATTERNS: readonly [RegExp, string][] = [
  [/-----BEGIN ([A-Z ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g, HIDDEN],
  [/\b(Bearer|Basic) [A-Za-z0-9._~+/=-]{6,}/g, `$1 ${HIDDEN}`],
  // kubeadm bootstrap tokens; the first half is public.
  [/\b([a-z0-9]{6})\.[a-z0-9]{16}\b/g, `$1.${HIDDEN}`],
  [/(\/\/[^/\s:@]+):[^/\s@]+@/g, `$1:${HIDDEN}@`],
];

/** JSON web tokens, such as service accounts and OIDC have: from where a word begins, as trying each place in it takes quadratic time. */
const THREE_PARTS = /(?<![\w-])[\w-]{8,}\.[\w-]{8,}\.[\w-]+/g;
const TOKEN_BEGINS = /\beyJ/;

/** Replaces recognisable secrets in a text. */
export function redactText(text: string): string {
  let out = text.includes("eyJ")
    ? text.replace(THREE_PARTS, (word) => (TOKEN_BEGINS.test(word) ? HIDDEN : word))
    : text;
  for (const [pattern, replacement] of PATTERNS) out = out.replace(pattern, replacement);
  return out;
}

/** Returns a copy of a value that is safe to log: secret fields hidden, errors as name, message and stack, and its size bounded. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (depth > 6) return "[…]";
  if (value instanceof Error) return redactError(value, depth);
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => redact(item, depth + 1));
  if (value instanceof Uint8Array) return `[${value.length} bytes]`;
  const isSecret = (value as { kind?: unknown }).kind === "Secret";
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const hide =
        SECRET_FIELDS.test(key) &&
        !HARMLESS_FIELDS.test(key) &&
        (isSecret || typeof item !== "object" || key !== "data");
      return [key, hide && item !== undefined && item !== null ? HIDDEN : redact(item, depth + 1)];
    }),
  );
}

function redactError(error: Error, depth: number): object {
  return {
    name: error.name,
    message: redactText(error.message),
    ...(error.stack === undefined ? {} : { stack: redactText(error.stack) }),
    ...(error.cause === undefined ? {} : { cause: redact(error.cause, depth + 1) }),
  };
}
