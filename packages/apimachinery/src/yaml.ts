import {
  type CST,
  Document,
  isScalar,
  Parser,
  parseAllDocuments,
  stringify,
  type Tags,
  visit,
  type YAMLMap,
} from "yaml";
import { badRequest } from "./errors.ts";

// One module reads and writes: a bundled program hands this file to the thread for large texts.
export { toGoYaml } from "./go-yaml.ts";

/** Tags of YAML 1.1 that turn text into something JSON lacks, or `1:30` into 90: Kubernetes' reader keeps those as text. */
const DROPPED = new Set(["timestamp", "binary", "set", "omap", "pairs"].map((t) => `tag:yaml.org,2002:${t}`));

function keepText(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === "string" || !(DROPPED.has(tag.tag) || ("format" in tag && tag.format === "TIME")),
  );
}

/** What YAML does not let into a document, not even into quotes; its escapes do. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const FORBIDDEN = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Reads one YAML document the way Kubernetes' Go library does (1.1: `yes` is true, `012` is octal, dates stay text). */
export function parseYaml(text: string): unknown {
  if (FORBIDDEN.test(text)) throw badRequest("error converting YAML to JSON: yaml: control characters are not allowed");
  const json = parseJson(text);
  if (json !== undefined) return json;
  const documents = parseYamlDocuments(text);
  if (documents.length > 1)
    throw badRequest(`expected one YAML document, found ${documents.length}: separate them into several requests`);
  return documents[0] ?? null;
}

/** Most bodies sent as YAML are JSON, which is read fifty times faster. */
function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Far below what the library, which calls itself for each level, has a stack for: V8 aborts the process when it runs out of it while compiling a regular expression. */
const MAX_LEVELS = 500;

/** Whether a text is nested too deep, by its tokens, which are read without recursion. */
export function isTooDeep(text: string): boolean {
  // Every level begins with one of these.
  if (text.length <= MAX_LEVELS || (text.match(/[[{:?-]/g)?.length ?? 0) <= MAX_LEVELS) return false;
  let level: CST.Token[] = [...new Parser().parse(text)];
  // A token may stand in an item of the level above: as a key, or as a value.
  for (let levels = 0; level.length > 0; levels++) {
    if (levels > MAX_LEVELS) return true;
    const below: CST.Token[] = [];
    for (const token of level) {
      if ("value" in token && typeof token.value === "object") below.push(token.value);
      if (!("items" in token)) continue;
      for (const { key, value } of token.items) {
        if (key) below.push(key);
        if (value) below.push(value);
      }
    }
    level = below;
  }
  return false;
}

/** Reads a stream of YAML documents; empty ones are left out. Throws BadRequest with line and column. */
export function parseYamlDocuments(text: string): unknown[] {
  if (isTooDeep(text)) throw badRequest("error converting YAML to JSON: yaml: the document is nested too deeply");
  try {
    const documents = parseAllDocuments(text, {
      version: "1.1",
      customTags: keepText,
      logLevel: "error",
      // The library compares each key with all before it.
      uniqueKeys: false,
    });
    const out: unknown[] = [];
    for (const document of Array.isArray(documents) ? (documents as Document[]) : []) {
      const [error] = document.errors;
      if (error !== undefined) throw badRequest(`error converting YAML to JSON: yaml: ${error.message.trimEnd()}`);
      visit(document, { Map: (_, node) => refuseRepeatedKeys(node, text) });
      const value: unknown = document.toJS({ maxAliasCount: 1000 });
      if (value !== null && value !== undefined) out.push(value);
    }
    return out;
  } catch (error) {
    if (error instanceof RangeError)
      throw badRequest("error converting YAML to JSON: yaml: the document is nested too deeply");
    if (error instanceof ReferenceError) throw badRequest(`error converting YAML to JSON: yaml: ${error.message}`);
    throw error;
  }
}

/** With Go's message. */
function refuseRepeatedKeys(map: YAMLMap, text: string): void {
  const seen = new Set<unknown>();
  for (const { key } of map.items) {
    if (!isScalar(key) || key.value === "<<") continue;
    if (seen.has(key.value)) {
      const line = text.slice(0, key.range?.[0] ?? 0).split("\n").length;
      throw badRequest(
        `error converting YAML to JSON: yaml: unmarshal errors:\n  line ${line}: key ${JSON.stringify(key.value)} already set in map`,
      );
    }
    seen.add(key.value);
  }
}

const WRITE = { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false } as const;

/** Line breaks in YAML 1.1 but not in 1.2, with their escapes: Go and Python would start a new line there. */
const LINE_ENDS: Readonly<Record<string, string>> = { "\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P" };
const LINE_END = /[\x85\u2028\u2029]/g;

/** Writes YAML that a 1.1 reader understands as meant: `"yes"`, `"1:30"` and `"012"` get quotes. */
export function toYaml(value: unknown): string {
  const text = stringify(value, WRITE);
  if (!text.includes("<<") && text.search(LINE_END) < 0) return text;
  const document = new Document(value, WRITE);
  visit(document, {
    Scalar: (place, node) => {
      // A key that happens to be `<<` must not read as a merge.
      if (place === "key" && node.value === "<<") node.type = "QUOTE_DOUBLE";
      if (typeof node.value === "string" && node.value.search(LINE_END) >= 0) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 }).replaceAll(LINE_END, (end) => LINE_ENDS[end] ?? "");
}
