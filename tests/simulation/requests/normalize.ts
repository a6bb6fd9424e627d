import { hostname } from "node:os";

/** What differs between two runs although nothing has changed: keys, certificates, and names and numbers that the API server gives. */
const RANDOM: readonly [RegExp, string][] = [
  [/-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----(\\n|\n)?/g, "<$1>"],
  [/LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g, "<PEM>"],
  [/eyJ[\w-]{8,}\.[\w-]+\.[\w-]+/g, "<jwt>"],
  [/sha256:[0-9a-f]{64}/g, "sha256:<hash>"],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  // Virtual time stands still while a machine works, but who reads the clock first depends on who is faster.
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/"resourceVersion":"\d+"/g, '"resourceVersion":"<version>"'],
  [/(127\.0\.0\.1(?::|","port":))\d+/g, "$1<port>"],
  [/\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, "<token>"],
  [/(byoh:\/\/[^/"]+\/)[0-9a-f]{6}/g, "$1<uid>"],
  // As generateName appends them: without vowels, so that no word is one by accident.
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])/g, "-<random>"],
];

const BASE64 = /"((?:[A-Za-z0-9+/]{4}){4,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)"/g;

/** Puts placeholders in place of what is random by nature. Order, times and everything else of a request stay as they are sent. */
export function normalize(text: string): string {
  let plain = text.replace(BASE64, (whole, encoded: string) => {
    const decoded = Buffer.from(encoded, "base64").toString();
    return isText(decoded) ? JSON.stringify(`base64 ${decoded}`) : whole;
  });
  for (const [pattern, placeholder] of RANDOM) plain = plain.replaceAll(pattern, placeholder);
  return plain.replaceAll(hostname(), "<hostname>");
}

function isText(decoded: string): boolean {
  return /^[\t\n\r\x20-\x7e]+$/.test(decoded);
}
