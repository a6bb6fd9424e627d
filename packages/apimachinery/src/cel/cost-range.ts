/** A lower and an upper bound of a size or a cost. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/** Cost of a call, and the size of its result where it is known. */
export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range;
}

/** The largest uint64: sums and products stop here. */
const MAX = 2 ** 64;

/** A size about which nothing is known. */
export const UNKNOWN: Range = { min: 0, max: MAX };

/** A bound that is exact. */
export function fixed(value: number): Range {
  return { min: value, max: value };
}

const cap = (value: number): number => Math.min(value, MAX);

/** Sum of ranges. */
export function sum(...ranges: readonly Range[]): Range {
  let [min, max] = [0, 0];
  for (const range of ranges) {
    min += range.min;
    max += range.max;
  }
  return { min: cap(min), max: cap(max) };
}

/** Product of ranges. */
export function times(a: Range, b: Range): Range {
  return { min: cap(a.min * b.min), max: cap(a.max * b.max) };
}

/** A range multiplied by a factor and rounded up. */
export function scale(range: Range, factor: number): Range {
  return { min: cap(Math.ceil(range.min * factor)), max: cap(Math.ceil(range.max * factor)) };
}

/** The range that covers both. */
export function union(a: Range, b: Range): Range {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}
