import type { Expr } from "./ast.ts";
import { type CallEstimate, fixed, type Range, scale, sum, times, UNKNOWN } from "./cost-range.ts";
import type { CelType } from "./types.ts";

/** What the estimator knows of a receiver or an argument. */
export interface NodeInfo {
  readonly type: CelType;
  readonly size: Range | undefined;
  readonly expr: Expr;
  /** Size limit of the items of a list, when the schema has one. */
  elementSize(): Range | undefined;
}

const STRING_FACTOR = 0.1;
const REGEX_FACTOR = 0.25;
const ONE = fixed(1);
const NOMINAL: CallEstimate = { cost: ONE };

const sizeOf = (node: NodeInfo | undefined): Range => node?.size ?? UNKNOWN;
const traverse = (node: NodeInfo | undefined, factor = STRING_FACTOR): Range => scale(sizeOf(node), factor);

function regex(text: NodeInfo | undefined, pattern: NodeInfo | undefined): Range {
  return times(scale(sum(sizeOf(text), ONE), STRING_FACTOR), scale(sizeOf(pattern), REGEX_FACTOR));
}

/** The estimate of one variant of a function, without the costs of its arguments. */
export function estimateLibraryCall(
  fn: string,
  overload: string,
  target: NodeInfo | undefined,
  args: readonly NodeInfo[],
): CallEstimate {
  return byFunction(fn, overload, target, args) ?? byOverload(overload, target, args) ?? NOMINAL;
}

function byFunction(
  fn: string,
  overload: string,
  target: NodeInfo | undefined,
  args: readonly NodeInfo[],
): CallEstimate | undefined {
  const [first, second] = args;
  switch (fn) {
    case "check":
      return { cost: fixed(350_000) };
    case "fieldSelector":
    case "labelSelector":
      return { cost: sum(fixed(10), traverse(first), scale(scale(sizeOf(first), 0.5), 50)) };
    case "isSorted":
    case "sum":
    case "max":
    case "min":
    case "indexOf":
    case "lastIndexOf":
      return target === undefined ? undefined : scanList(target);
    case "url":
      return { cost: traverse(first), size: sizeOf(first) };
    case "lowerAscii":
    case "upperAscii":
    case "substring":
    case "trim":
      return { cost: traverse(target), size: sizeOf(target) };
    case "replace":
      return {
        cost: traverse(target, 2 * STRING_FACTOR),
        size: replacedSize(sizeOf(target), sizeOf(first), sizeOf(second)),
      };
    case "split": {
      const limit =
        second?.expr.kind === "literal" && typeof second.expr.value === "bigint"
          ? Number(second.expr.value)
          : undefined;
      return { cost: traverse(target, 2 * STRING_FACTOR), size: { min: 0, max: limit ?? sizeOf(target).max } };
    }
    case "join":
      return target === undefined ? undefined : joined(target, first);
    case "find":
    case "findAll":
      return { cost: regex(target, first), size: { min: 0, max: sizeOf(target).max } };
    case "cidr":
    case "isIP":
    case "isCIDR":
    case "quantity":
    case "isQuantity":
    case "semver":
    case "isSemver":
      return { cost: traverse(first) };
    case "ip":
      return overload === "cidr_ip" ? NOMINAL : { cost: traverse(first) };
    case "ip.isCanonical":
      return { cost: traverse(first, 2 * STRING_FACTOR) };
    case "containsIP":
      return { cost: sum({ min: 1, max: 4 }, overload === "cidr_contains_ip_string" ? traverse(first) : fixed(0)) };
    case "containsCIDR":
      return { cost: sum({ min: 3, max: 7 }, overload === "cidr_contains_cidr_string" ? traverse(first) : fixed(0)) };
    case "validate":
      return { cost: scale(traverse(first), 128 * REGEX_FACTOR) };
    case "distinct":
      return allocating(2, times(sizeOf(target), sizeOf(target)));
    case "sort":
      return allocating(2, times(sizeOf(target), sizeOf(target)));
    case "@sortByAssociatedKeys":
      return allocating(2, times(sizeOf(first), sizeOf(first)));
    case "reverse":
    case "slice":
    case "flatten":
      return allocating(1, sizeOf(target));
    case "lists.range":
      return allocating(
        1,
        first?.expr.kind === "literal" && typeof first.expr.value === "bigint"
          ? fixed(Number(first.expr.value))
          : UNKNOWN,
      );
    case "sets.contains":
    case "sets.intersects":
      return { cost: times(sizeOf(first), sizeOf(second)) };
    case "sets.equivalent":
      return { cost: scale(times(sizeOf(first), sizeOf(second)), 2) };
    default:
      return undefined;
  }
}

function allocating(factor: number, size: Range): CallEstimate {
  return { cost: sum(fixed(10), scale(size, factor)), size };
}

function scanList(target: NodeInfo): CallEstimate {
  const element = target.type.kind === "list" ? target.type.params[0] : undefined;
  if (element === undefined) return { cost: traverse(target) };
  const text = element.kind === "string" || element.kind === "bytes";
  const each = text ? sum(ONE, scale(target.elementSize() ?? UNKNOWN, STRING_FACTOR)) : ONE;
  return { cost: times(sizeOf(target), each) };
}

function joined(target: NodeInfo, separator: NodeInfo | undefined): CallEstimate {
  const count = sizeOf(target);
  let size = times(count, target.elementSize() ?? UNKNOWN);
  if (separator !== undefined) {
    const gaps = { min: Math.max(count.min - 1, 0), max: Math.max(count.max - 1, 0) };
    size = sum(size, times(sizeOf(separator), gaps));
  }
  return { cost: scale(size, STRING_FACTOR), size };
}

function replacedSize(text: Range, from: Range, to: Range): Range {
  let max: number;
  if (from.min === 0) max = (text.max + 1) * to.max + text.max;
  else if (to.max <= from.min) max = text.max;
  else max = Math.ceil(text.max / from.min) * to.max;
  let min: number;
  if (from.max === 0) min = (text.min + 1) * to.min + text.min;
  else if (from.max <= to.min) min = text.min;
  else min = Math.ceil(text.min / from.max) * to.min;
  return { min: Math.min(min, UNKNOWN.max), max: Math.min(max, UNKNOWN.max) };
}

function byOverload(
  overload: string,
  target: NodeInfo | undefined,
  args: readonly NodeInfo[],
): CallEstimate | undefined {
  const [first, second] = args;
  switch (overload) {
    case "string_format":
      return { cost: traverse(target) };
    case "string_to_bytes":
      return {
        cost: traverse(first),
        size: { min: sizeOf(first).min, max: Math.min(sizeOf(first).max * 4, UNKNOWN.max) },
      };
    case "bytes_to_string":
      return { cost: traverse(first), size: { min: Math.floor(sizeOf(first).min / 4), max: sizeOf(first).max } };
    case "strings_quote":
      return {
        cost: traverse(first),
        size: { min: sizeOf(first).min + 2, max: Math.min(sizeOf(first).max * 2 + 2, UNKNOWN.max) },
      };
    case "starts_with_string":
    case "ends_with_string":
      return { cost: traverse(first) };
    case "in_list":
      return { cost: sizeOf(second) };
    case "matches_string":
      return { cost: regex(target, first) };
    case "contains_string":
      return { cost: times(traverse(target), traverse(first)) };
    case "add_list":
      return { cost: ONE, size: sum(sizeOf(first), sizeOf(second)) };
    case "add_string":
    case "add_bytes": {
      const size = sum(sizeOf(first), sizeOf(second));
      return { cost: scale(size, STRING_FACTOR), size };
    }
    default:
      if (!/^(?:equals|not_equals|(?:less|greater)(?:_equals)?_(?:string|bytes))$/.test(overload)) return undefined;
      if (first?.type.kind === "opaque" && second?.type.kind === "opaque") return NOMINAL;
      return { cost: compared(sizeOf(first), sizeOf(second)) };
  }
}

function compared(a: Range, b: Range): Range {
  const max = Math.min(a.max, b.max);
  return scale({ min: max > 0 ? 1 : 0, max }, STRING_FACTOR);
}
