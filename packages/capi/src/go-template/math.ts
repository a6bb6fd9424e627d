import semver from "semver";
import type { TemplateFunction } from "./functions.ts";
import { formatValue } from "./go-values.ts";
import { TemplateError } from "./lexer.ts";

const MAX_LIST = 10_000;

function number(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return Number(value);
  const parsed = Number(formatValue(value));
  return Number.isNaN(parsed) ? 0 : parsed;
}
const whole = (value: unknown): number => Math.trunc(number(value));

function division(a: unknown, b: unknown, of: (x: number, y: number) => number): number {
  if (whole(b) === 0) throw new TemplateError("integer divide by zero");
  return of(whole(a), whole(b));
}

function steps(from: number, to: number, by: number): number[] {
  if (by === 0 || (to - from) / by > MAX_LIST) throw new TemplateError("the list is too long");
  const result: number[] = [];
  for (let value = from; by > 0 ? value < to : value > to; value += by) {
    // Beyond the precision of a number, adding a step changes nothing.
    if (result.length >= MAX_LIST) throw new TemplateError("the list is too long");
    result.push(value);
  }
  return result;
}

function rounded(value: unknown, digits: unknown): number {
  const scale = 10 ** Math.min(whole(digits), 15);
  return Math.round(number(value) * scale) / scale;
}

/** Constraints as Masterminds writes them; pre-releases count, as versions of Kubernetes often are. */
function semverCompare(constraint: string, version: string): boolean {
  const range = constraint.replaceAll(",", " ");
  if (semver.validRange(range) === null) throw new TemplateError(`${constraint} is not a version constraint`);
  const parsed = semver.parse(version.replace(/^v/, ""));
  if (parsed === null) throw new TemplateError(`${version} is not a semantic version`);
  return semver.satisfies(parsed, range);
}

/** Functions of sprig over numbers and versions. */
export const mathFunctions: Record<string, TemplateFunction> = {
  add: (...values: unknown[]) => values.reduce<number>((sum, value) => sum + whole(value), 0),
  add1: (value: unknown) => whole(value) + 1,
  sub: (a: unknown, b: unknown) => whole(a) - whole(b),
  mul: (...values: unknown[]) => values.reduce<number>((product, value) => product * whole(value), 1),
  div: (a: unknown, b: unknown) => division(a, b, (x, y) => Math.trunc(x / y)),
  mod: (a: unknown, b: unknown) => division(a, b, (x, y) => x % y),
  max: (...values: unknown[]) => Math.max(...values.map(whole)),
  min: (...values: unknown[]) => Math.min(...values.map(whole)),
  ceil: (value: unknown) => Math.ceil(number(value)),
  floor: (value: unknown) => Math.floor(number(value)),
  round: rounded,
  int: whole,
  int64: whole,
  float64: number,
  atoi: whole,
  until: (count: unknown) => steps(0, whole(count), whole(count) < 0 ? -1 : 1),
  untilStep: (from: unknown, to: unknown, by: unknown) => steps(whole(from), whole(to), whole(by)),
  semverCompare,
  semver: (version: string) => {
    const parsed = semver.parse(version.replace(/^v/, ""));
    if (parsed === null) throw new TemplateError(`${version} is not a semantic version`);
    return {
      Major: parsed.major,
      Minor: parsed.minor,
      Patch: parsed.patch,
      Prerelease: parsed.prerelease.join("."),
      Metadata: parsed.build.join("."),
      Original: version,
    };
  },
};
