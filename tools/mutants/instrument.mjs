/** Writes all mutants of a file into one copy of it, each behind a switch, so that a program is loaded once and tried with every mutant. */
import { createHash } from "node:crypto";
import { parseAst } from "vitest/node";
import { changesOf } from "./mutators.mjs";

/**
 * @typedef {import("./mutators.mjs").Node} Node
 * @typedef {import("./mutators.mjs").Change} Change
 *
 * @typedef {object} Mutant
 * @property {string} file
 * @property {number} line
 * @property {string} what
 * @property {string} source The start of the text that is changed.
 * @property {string} digest Of the place and the change: what a sample is drawn by.
 * @property {Change} change
 */

/** Expressions of types that exist at run time. */
const RUNTIME_TYPES = new Set([
  "TSAsExpression",
  "TSNonNullExpression",
  "TSSatisfiesExpression",
  "TSInstantiationExpression",
]);

/**
 * Lists the mutants of a file, in the order of its text.
 * @param {string} file
 * @param {string} source
 * @returns {Mutant[]}
 */
export function mutantsOf(file, source) {
  const text = (/** @type {Node} */ { start, end }) => source.slice(start, end);
  /** @type {Mutant[]} */
  const mutants = [];
  const lineOf = lines(source);
  visit(/** @type {any} */ (parseAst(source, { lang: "ts" })), (node, parent, key) => {
    for (const change of changesOf(node, { text, parent, key })) {
      const { start } = change.node;
      const what = change.what;
      const digest = createHash("sha256").update(`${file}\0${start}\0${what}`).digest("hex");
      mutants.push({ file, line: lineOf(start), what, source: shorten(text(change.node)), digest, change });
    }
  });
  return mutants;
}

/**
 * The source with each of the mutants behind `__mutant(id)`.
 * @param {string} source
 * @param {readonly { id: number; change: Change }[]} mutants
 */
export function instrumented(source, mutants) {
  if (mutants.length === 0) return source;
  /** @type {Map<string, { node: Node; changes: { id: number; change: Change }[] }>} */
  const places = new Map();
  for (const mutant of mutants) {
    const { node } = mutant.change;
    const key = `${node.start}:${node.end}:${mutant.change.how === "expression"}`;
    const place = places.get(key) ?? { node, changes: [] };
    place.changes.push(mutant);
    places.set(key, place);
  }
  const sorted = [...places.values()].toSorted(({ node: a }, { node: b }) => a.start - b.start || b.end - a.end);
  let at = 0;
  let place = 0;
  /** @param {number} end */
  const write = (end) => {
    let out = "";
    for (let next = sorted[place]; next !== undefined && next.node.start < end; next = sorted[place]) {
      place++;
      out += source.slice(at, next.node.start);
      at = next.node.start;
      const { end: last } = next.node;
      out += wrap(next.changes, () => {
        const inner = write(last);
        return inner;
      });
    }
    out += source.slice(at, end);
    at = end;
    return out;
  };
  const body = write(source.length);
  const start = /^#!.*\n/.exec(body)?.[0] ?? "";
  return `${start}const __mutant = globalThis.__mutant ?? (() => false);${body.slice(start.length)}`;
}

/**
 * @param {{ id: number; change: Change }[]} mutants Of one node.
 * @param {() => string} original
 */
function wrap(mutants, original) {
  const [first] = mutants;
  const any = mutants.map(({ id }) => `__mutant(${id})`).join(" || ");
  switch (first?.change.how) {
    case "statement":
      return `{ if (!(${any})) { ${original()} } }`;
    case "body":
      return `{ if (${any}) return; ${original().slice(1)}`;
    case "block":
      return `{ if (!(${any})) ${original()} }`;
    default: {
      const choices = mutants.map(({ id, change }) => `__mutant(${id}) ? (${change.replacement}) : `).join("");
      return `(${choices}(${original()}))`;
    }
  }
}

/**
 * Calls back for every node whose text may be replaced.
 * @param {Node} root
 * @param {(node: Node, parent: Node, key: string) => void} callback
 */
function visit(root, callback) {
  /** @param {Node} node @param {Node} parent @param {string} key */
  const step = (node, parent, key) => {
    if (node.type.startsWith("TS") && !RUNTIME_TYPES.has(node.type)) return;
    if (node.type === "ImportDeclaration" || node.type === "ExportAllDeclaration") return;
    callback(node, parent, key);
    for (const [name, value] of Object.entries(node)) {
      if (isFixed(node, name)) continue;
      for (const child of Array.isArray(value) ? value : [value])
        if (typeof child?.type === "string" && typeof child.start === "number") step(child, node, name);
    }
  };
  for (const child of root.body) step(child, root, "body");
}

/** Parts of a node that are names or targets, not values. @param {Node} node @param {string} name */
function isFixed(node, name) {
  switch (name) {
    case "key":
      return !node.computed;
    case "left":
      return node.type === "AssignmentExpression" || node.type === "AssignmentPattern" || /^For(Of|In)/.test(node.type);
    case "source":
    case "directive":
    case "decorators":
      return true;
    case "expression":
      // The links of an optional chain end together, so only the whole chain is replaced; its arguments are left alone.
      return (
        node.type === "ChainExpression" || (node.type === "ExpressionStatement" && typeof node.directive === "string")
      );
    case "argument":
      return node.type === "UpdateExpression" || (node.type === "UnaryExpression" && node.operator === "delete");
    case "quasi":
    case "tag":
    case "quasis":
      return true;
    default:
      return false;
  }
}

/** @param {string} source */
function lines(source) {
  const starts = [0];
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return (/** @type {number} */ offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (/** @type {number} */ (starts[middle]) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

/** @param {string} text */
function shorten(text) {
  const line = text.replace(/\s+/g, " ");
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}
