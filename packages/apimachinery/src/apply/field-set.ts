import { badRequest } from "../errors.ts";
import { isObject, MAX_DEPTH, tooDeep } from "../json.ts";
import { canonicalElement, type PathElement, printElement } from "./path-element.ts";

/**
 * A set of field paths in the very shape of fieldsV1, so that nothing is encoded or decoded on the way: a tree whose nodes
 * map path elements to nodes. A node is in the set itself when it has the entry `.` or no entry at all. Nodes are immutable
 * and shared. The root is never a member; an empty root is the empty set.
 */
export interface FieldSet {
  readonly [element: PathElement]: FieldSet;
}

/** A member without children, and the empty set. */
export const LEAF: FieldSet = Object.freeze({});

const SELF = ".";

/** Whether a node (not the root) is in the set itself. */
export function isMember(node: FieldSet): boolean {
  if (node[SELF] !== undefined) return true;
  for (const _ in node) return false;
  return true;
}

/** Whether the set has no paths. */
export function isEmptySet(root: FieldSet): boolean {
  for (const _ in root) return false;
  return true;
}

/** A node from its parts; undefined when it is neither a member nor has children. */
export function makeNode(member: boolean, children: Record<PathElement, FieldSet> | undefined): FieldSet | undefined {
  if (children === undefined || isEmptySet(children)) return member ? LEAF : undefined;
  return member ? { [SELF]: LEAF, ...children } : children;
}

/** The node without its own membership; undefined when nothing is left. */
export function childrenOf(node: FieldSet): FieldSet | undefined {
  if (node[SELF] === undefined) return isEmptySet(node) ? undefined : node;
  const { [SELF]: _, ...children } = node;
  return makeNode(false, children);
}

type Combine = (a: FieldSet | undefined, b: FieldSet | undefined, depth: number) => FieldSet | undefined;

function combine(a: FieldSet, b: FieldSet, left: boolean, right: boolean, each: Combine, depth: number) {
  if (depth > MAX_DEPTH) throw tooDeep();
  const children: Record<PathElement, FieldSet> = {};
  for (const key in a) {
    if (key === SELF) continue;
    const node = b[key] === undefined && left ? a[key] : each(a[key], b[key], depth + 1);
    if (node !== undefined) children[key] = node;
  }
  if (!right) return children;
  for (const key in b) {
    const node = b[key];
    if (key !== SELF && a[key] === undefined && node !== undefined) children[key] = node;
  }
  return children;
}

const unionNodes: Combine = (a, b, depth) => {
  if (a === undefined || a === b) return b;
  if (b === undefined) return a;
  return makeNode(isMember(a) || isMember(b), combine(a, b, true, true, unionNodes, depth));
};

const differenceNodes: Combine = (a, b, depth) => {
  if (a === undefined || b === undefined) return a;
  return makeNode(isMember(a) && !isMember(b), combine(a, b, true, false, differenceNodes, depth));
};

const intersectNodes: Combine = (a, b, depth) => {
  if (a === undefined || b === undefined) return undefined;
  return makeNode(isMember(a) && isMember(b), combine(a, b, false, false, intersectNodes, depth));
};

const excludeNodes: Combine = (a, b, depth) => {
  if (a === undefined || b === undefined) return a;
  if (isMember(b)) return undefined;
  return makeNode(isMember(a), combine(a, b, true, false, excludeNodes, depth));
};

/** Paths in either set. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  return isEmptySet(a) ? b : combine(a, b, true, true, unionNodes, 0);
}

/** Paths of `a` that are not in `b`; children of a path in `b` stay. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(a) || isEmptySet(b) ? a : combine(a, b, true, false, differenceNodes, 0);
}

/** Whether every path of `a` is in `b`. */
export function isSubset(a: FieldSet, b: FieldSet, depth = 0): boolean {
  if (a === b) return true;
  if (depth > MAX_DEPTH) throw tooDeep();
  for (const key in a) {
    const left = a[key];
    if (key === SELF || left === undefined) continue;
    const right = b[key];
    if (right === undefined) return false;
    if (left === right) continue;
    if ((isMember(left) && !isMember(right)) || !isSubset(left, right, depth + 1)) return false;
  }
  return true;
}

/** Paths in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(a) || isEmptySet(b) ? LEAF : combine(a, b, false, false, intersectNodes, 0);
}

/** Paths of `a` that neither are in `b` nor lie below a path in `b`. */
export function exclude(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(a) || isEmptySet(b) ? a : combine(a, b, true, false, excludeNodes, 0);
}

/** A set of paths given by field names. */
export function setOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  let set: FieldSet = LEAF;
  for (const path of paths)
    set = union(
      set,
      path.reduceRight<FieldSet>((node, name) => ({ [`f:${name}`]: node }), LEAF),
    );
  return set;
}

/** All paths as conflicts print them: at each level the members first, then what lies below. */
export function printPaths(root: FieldSet): string[] {
  const paths: string[] = [];
  const visit = (node: FieldSet, prefix: string): void => {
    const keys = Object.keys(node)
      .filter((k) => k !== SELF)
      .sort();
    for (const key of keys) if (isMember(node[key] ?? LEAF)) paths.push(prefix + printElement(key));
    for (const key of keys) visit(node[key] ?? LEAF, prefix + printElement(key));
  };
  visit(root, "");
  return paths;
}

/** Reads fieldsV1 given by a client: checks every element and brings it into canonical form. Throws BadRequest. */
export function decodeFieldSet(fields: unknown): FieldSet {
  return decode(fields, 0, true) ?? LEAF;
}

function decode(fields: unknown, depth: number, root: boolean): FieldSet | undefined {
  if (!isObject(fields)) throw badRequest("fieldsV1: every node must be an object");
  if (depth > MAX_DEPTH) throw tooDeep();
  const children: Record<PathElement, FieldSet> = {};
  let member = false;
  let count = 0;
  for (const key of Object.keys(fields)) {
    count++;
    if (key === SELF) {
      member = true;
      continue;
    }
    const node = decode(fields[key], depth + 1, false);
    if (node !== undefined) children[canonicalElement(key)] = node;
  }
  return makeNode(!root && (member || count === 0), children);
}

/** The fieldsV1 of a set with sorted keys, as a Kubernetes API server prints it. Shares nodes that are sorted already. */
export function encodeFieldSet(node: FieldSet): FieldSet {
  let last = "";
  let inOrder = true;
  for (const key in node) {
    if (key < last) inOrder = false;
    last = key;
  }
  let out: Record<PathElement, FieldSet> | undefined = inOrder ? undefined : sortTopLevel(node);
  for (const key in node) {
    const child = node[key];
    if (child === undefined || child === LEAF) continue;
    const encoded = encodeFieldSet(child);
    if (encoded !== child) (out ??= { ...node })[key] = encoded;
  }
  return out ?? node;
}

/** The node with its own keys sorted. */
export function sortTopLevel(node: FieldSet): Record<PathElement, FieldSet> {
  const out: Record<PathElement, FieldSet> = {};
  for (const key of Object.keys(node).sort()) out[key] = node[key] ?? LEAF;
  return out;
}
