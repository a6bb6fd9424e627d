import { createHash } from "node:crypto";
import { parseStrictYaml, StrictYamlError, seededRandom, stableStringify } from "@capstan/apimachinery";
import { canonicalFiles } from "../files/canonical.ts";
import { VALID_FILES } from "./yaml-corpus-files.ts";

/** A file as a user might supply it, and the type that it is read as. */
export interface CorpusFile {
  type: string;
  text: string;
}

const LINE_ENDS = ["\r", "\r\n", "\x85", "\u2028", "\u2029", "\n\n", "\v", "\f"];
const CHARACTERS = [
  "\ud800",
  "\udc00",
  ..."\0\x07\x1b\x7f\x80\ufeff\ufffd\ufffe\u212a\u017f\u00a0\u3000\u200b\u202e",
  ..."\t :#,[]{}&*!|>'\"%@`?-\\~=<.^0😀é",
];
const SCALARS =
  'yes no on off y n True FALSE null Null ~ .inf -.INF .nan . .. 012 0o17 0x1F 0b101 1_000 1e3 1E+3 +1 -0 0.5 .5 5. 1.0 -1.50 12e03 1:30 190:20:30 2001-12-14 2001-12-14t21:59:43.10-05:00 1.2.3 10.0.0.1 0.0 9007199254740993 1e999 = << - ? : #x a:b a#b a\\ -a ?a :a !a %a @a `a \'a\'\' "a\\x62" "\\N" "\\L" "\\/" "\\e" "\\u212a" "\\ud83d\\ude00" "\\U0001F600" "a\\\n  b" | > |- >+ |2 [] {} [a] {a} {a: } {a: 1, b} [a: b] [a,] {,} !!str !!binary !x'.split(
    " ",
  );
const SNIPPETS = [
  "exec: {command: /bin/sh, args: [-c, id]}",
  "# x\x85    exec: {command: id}",
  "# x\r    exec: {command: id}",
  "# x\u2028    exec: {command: id}",
  "# x\u2029    exec: {command: id}",
  "\u212aubeConfigFile: /etc/x",
  "KUBECONFIGFILE: /etc/x",
  "u\u017fers: []",
  "<<: {exec: {command: id}}",
  "a: &a [1]\nb: *a",
  "!!binary ZXhlYw==: {command: id}",
  '"\\x65xec": {command: id}',
  '"ex\\\n  ec": {command: id}',
  "? exec\n: {command: id}",
  "? [a]\n: b",
  "---",
  "--- # x",
  "...",
  "%YAML 1.1",
  "%TAG ! tag:x,2000:",
  "key: |\n  a\n   b\n\n  c",
  "key: >-\n  a\n  b\n\n   c\n  d",
  "key: |+\n  a\n\n",
  "key: |1\n  a",
  "key: |2\n    a\n     ",
  "key: >-\n  a\n   \n   ",
  "- \ta",
  "key: {:a: b, c: :d}",
  "key: a\n  b\n  c",
  'key: "a\n  b\n\n  c"',
  "key: 'a\n  b'",
  "- a\n- b",
  "key:\n- a\n-   b\n- - c\n  - d",
  "key: {a: b, 'c': \"d\", e: [f, {g: h}]}",
  "key: {a: b\n  , c: d}",
  "key: [a\n, b]",
  "key : a",
  "key:\ta",
  "key: a # b",
  "key: a# b",
  "true: a",
  "1: a",
  "null: a",
  "~: a",
  "1.5: a",
  "__proto__: {a: b}",
];

/** The same files for the same seed: valid ones, and hostile mutations of them. */
export function yamlCorpus(seed: number, count: number): CorpusFile[] {
  const random = seededRandom(seed);
  const below = (limit: number): number => Buffer.from(random.bytes(4)).readUInt32LE() % limit;
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;

  const insert = (text: string, what: string): string => {
    const at = below(text.length + 1);
    return text.slice(0, at) + what + text.slice(at);
  };
  const atLine = (text: string, change: (line: string, indent: string) => string): string => {
    const lines = text.split("\n");
    const at = below(lines.length);
    const line = lines[at] ?? "";
    lines[at] = change(line, /^[ -]*/.exec(line)?.[0].replaceAll("-", " ") ?? "");
    return lines.join("\n");
  };
  const value = (line: string, change: (value: string) => string): string =>
    line.replace(/^(\s*(?:- )*[^\s:]+: |\s*- )(.+)$/, (_, key: string, given: string) => key + change(given));
  const mutations: readonly ((text: string) => string)[] = [
    (text) => insert(text, pick(CHARACTERS)),
    (text) => insert(text, pick(LINE_ENDS)),
    (text) => atLine(text, (line) => value(line, () => pick(SCALARS))),
    (text) =>
      atLine(text, (line) => value(line, (given) => pick(['"', "'", "&a ", "*a ", "!!str ", "! ", ""]) + given)),
    (text) => atLine(text, (line) => value(line, (given) => `"${given.replaceAll('"', "")}"`)),
    (text) => atLine(text, (line) => value(line, (given) => `'${given.replaceAll("'", "''")}'`)),
    (text) =>
      atLine(text, (line) =>
        line.replace(/[A-Za-z-]+(?=:)/, (key) => pick([`"${key}"`, `'${key}'`, key.toUpperCase()])),
      ),
    (text) => atLine(text, (line) => line.replace(/[ks]/i, (letter) => (/k/i.test(letter) ? "\u212a" : "\u017f"))),
    (text) => atLine(text, (line, indent) => `${line}\n${indent}${pick(SNIPPETS).replaceAll("\n", `\n${indent}`)}`),
    (text) => atLine(text, (line, indent) => `${line}\n${indent}${pick(SNIPPETS).replaceAll("\n", `\n${indent}`)}`),
    (text) => atLine(text, (line) => `${line}\n${line}`),
    (text) => atLine(text, (line) => pick([` ${line}`, `  ${line}`, line.replace(/^ {1,2}/, ""), `\t${line}`])),
    (text) =>
      atLine(text, (line) => line + pick([" # comment", "#", " ", "  ", "\t", ",", ":", ": ", "\n", "\n# comment"])),
    (text) => {
      const at = below(text.length);
      return text.slice(0, at) + text.slice(at + 1 + below(3));
    },
    (text) => text.replaceAll("\n", pick(["\r\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"])),
    (text) => pick(["\ufeff", "---\n", "# comment\n", "\n\n", "%YAML 1.1\n---\n", "--- ", "|\r\n", ">\n\n"]) + text,
    (text) => text + pick(["...\n", "---\n", "--- {}\n", "\n\n", "# end", "\0", "... # end\n"]),
  ];

  return Array.from({ length: count }, () => {
    const file = pick(VALID_FILES);
    let { text } = file;
    for (let left = below(4); left > 0; left--) text = pick(mutations)(text);
    return { type: file.type, text };
  });
}

/** Input of the recording. */
export const CORPUS = { seed: 14, count: 10_000 } as const;
const HOOK = "apiVersion: v1\nkind: Config\n";

/** The parsed file and its canonical output; undefined if it is rejected. */
export function ourReading(file: CorpusFile): { parsed?: { value: unknown }; written?: string } {
  const out: { parsed?: { value: unknown }; written?: string } = {};
  try {
    out.parsed = { value: parseStrictYaml(file.text) };
  } catch (error) {
    if (!(error instanceof StrictYamlError)) throw error;
    return out;
  }
  const read = canonicalFiles({ "hook.conf": HOOK, file: file.text }, [{ name: "file", type: file.type }], "/files");
  if ("files" in read && read.files["file"] !== undefined) out.written = read.files["file"];
  return out;
}

/** A value in twelve digits, the same whatever the order of its keys. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(stableStringify(value)).digest("hex").slice(0, 12);
}
