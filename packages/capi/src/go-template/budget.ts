import { isObject } from "@capstan/apimachinery";
import { TemplateError } from "./lexer.ts";

const MAX_OUTPUT = 1_000_000;
const MAX_STEPS = 100_000;
/** Maximum of characters and values that functions read or create: some tens of milliseconds. */
const MAX_WORK = 4_000_000;
/** Going to a value takes as long as reading so many characters. */
const VALUE = 8;
const MAX_DEPTH = 100;
/** The longest text that a function makes. */
const MAX_TEXT = 1_000_000;

/** Budget of one rendering: templates come from users, and a rendering blocks the event loop. */
export class Budget {
  #output = 0;
  #steps = 0;
  #work = 0;

  /** How much has been used, in characters and values. */
  get used(): number {
    return this.#work + this.#steps + this.#output;
  }

  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS) throw new TemplateError("the template takes too many steps");
  }

  write(length: number): void {
    this.#output += length;
    if (this.#output > MAX_OUTPUT) throw new TemplateError("the template renders too much text");
  }

  work(amount: number): void {
    this.#work += amount;
    if (!(this.#work <= MAX_WORK)) throw new TemplateError("the template takes too much work");
  }

  /** Takes the work of going through a value, with all that is in it. */
  whole(value: unknown): void {
    this.work(this.#weight(value).size);
  }

  /** Takes the work of a call before it is made. */
  call(name: string, args: readonly unknown[]): void {
    this.work(1 + args.length);
    if (BY_REFERENCE.has(name)) return;
    if (ONE_LEVEL.has(name)) {
      for (const value of args) this.work(onLevel(value));
      if (name === "pick" || name === "omit") this.work(onLevel(args[0]) * args.length);
      return;
    }
    let size = 0;
    let depth = 1;
    for (const value of args) {
      const found = this.#weight(value);
      size += found.size;
      depth = Math.max(depth, found.depth);
    }
    this.work(size * factor(name, args, depth));
  }

  /** Takes the work of what a call made. */
  made(value: unknown): void {
    if (typeof value === "string") this.work(value.length);
    else if (Array.isArray(value)) this.work(value.length);
  }

  /** A value may be in itself many times over, so that going through it costs far more than it holds: the count ends where the budget does. */
  #weight(value: unknown): { size: number; depth: number } {
    const left = MAX_WORK - this.#work;
    const waiting: { value: unknown; depth: number }[] = [{ value, depth: 1 }];
    let size = 0;
    let deepest = 1;
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      size += VALUE + (typeof next.value === "string" ? next.value.length : 0);
      deepest = Math.max(deepest, next.depth);
      if (size + waiting.length * VALUE > left) throw new TemplateError("the template takes too much work");
      if (next.depth > MAX_DEPTH) throw new TemplateError("a value is nested too deeply");
      const depth = next.depth + 1;
      if (Array.isArray(next.value)) for (const item of next.value) waiting.push({ value: item, depth });
      else if (isObject(next.value))
        for (const [key, item] of Object.entries(next.value)) {
          size += key.length;
          waiting.push({ value: item, depth });
        }
    }
    return { size, depth: deepest };
  }
}

/** Throws for a text that is too long, before it is created. */
export function checkLength(length: number): void {
  if (!(length <= MAX_TEXT)) throw new TemplateError("the result is too long");
}

const namesIn = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** These pass values on without looking into them. */
const BY_REFERENCE = namesIn("list tuple first last index get hasKey ternary kindOf kindIs typeOf");
/** These look at the items of a value, not into them. */
const ONE_LEVEL = namesIn(
  "append prepend concat rest initial reverse slice compact keys values set unset pick omit pluck default empty coalesce any all not and or len eq ne lt le gt ge",
);

function onLevel(value: unknown): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 1;
}

/** How often a function goes over what it is given, or how much more a character costs it. */
function factor(name: string, args: readonly unknown[], depth: number): number {
  switch (name) {
    case "uniq":
      return 1 + onLevel(args[0]);
    case "without":
    case "has":
      return args.length + onLevel(name === "has" ? args[1] : args[0]);
    case "fromYaml":
      return 500;
    case "toYaml":
      return 20 + 2 * depth;
    case "fromJson":
    case "toJson":
    case "toRawJson":
      return 5;
    case "toPrettyJson":
      return 5 + 2 * depth;
    case "semver":
    case "semverCompare":
      return 50;
    case "regexMatch":
    case "regexFind":
    case "regexReplaceAll":
      return patternCost(args[0]);
    default:
      return 1;
  }
}

/** An automaton is as large as its pattern with all repetitions written out; each character goes over all of it. */
function patternCost(pattern: unknown): number {
  const text = typeof pattern === "string" ? pattern : "";
  const repeats = [...text.matchAll(/\{(\d{0,4})(?:,(\d{0,4}))?\}/g)].map(([, low, high]) => Number(high || low || 1));
  return 1 + text.length * Math.max(1, ...repeats.slice(0, 1_000), Math.min(1_000, repeats.length));
}
