import { isObject } from "@capstan/apimachinery";

/** Thrown if a file is rejected; the message says why and what to do. */
export class FileRefusal extends Error {
  override name = "FileRefusal";
}

/** What a file may refer to: the other files of the same component, and their folder. */
export interface Surroundings {
  /** Reads a document; throws StrictYamlError. */
  read(text: string): unknown;
  /** The folder of `files` as the component sees it. */
  readonly folder: string;
  /** Resolves a path to a name in `files` and requires that file to have this type; rejects other paths. */
  refer(path: string, at: string, type: string): string;
}

/** Validates a part of a file and returns what to write for it; throws FileRefusal for anything unknown. */
export type Shape = (value: unknown, at: string, around: Surroundings) => unknown;

function refuse(at: string, what: string): never {
  throw new FileRefusal(`has ${at === "" ? "content" : at}, which ${what}`);
}

/** Accepts a string; with a pattern, `what` describes the expected form. */
export function text(pattern?: RegExp, what = "a string of another form"): Shape {
  return (value, at) => {
    if (typeof value !== "string") return refuse(at, "must be a string; put it in quotes");
    if (pattern !== undefined && !pattern.test(value)) return refuse(at, `must be ${what}; correct it`);
    return value;
  };
}

/** Accepts one of these strings. */
export function oneOf(...texts: readonly string[]): Shape {
  return (value, at) =>
    texts.includes(value as string) ? value : refuse(at, `must be one of ${texts.join(", ")}; correct it`);
}

/** Accepts a boolean. */
export const yesOrNo: Shape = (value, at) =>
  typeof value === "boolean" ? value : refuse(at, "must be true or false without quotes; correct it");

/** Accepts only false, for options that disable verification. */
export const never: Shape = (value, at) =>
  value === false ? value : refuse(at, "would disable the verification of the server; remove it");

/** Accepts an integer. */
export const integer: Shape = (value, at) =>
  Number.isSafeInteger(value) ? value : refuse(at, "must be an integer without quotes; correct it");

/** Accepts a number. */
export const number: Shape = (value, at) =>
  typeof value === "number" ? value : refuse(at, "must be a number without quotes; correct it");

/** Accepts a list whose items have this shape. */
export function list(item: Shape): Shape {
  return (value, at, around) =>
    Array.isArray(value)
      ? value.map((each, index) => item(each, `${at}[${index}]`, around))
      : refuse(at, "must be a list; correct it");
}

/** Accepts a map with arbitrary keys and values of this shape. */
export function mapOf(item: Shape): Shape {
  return (value, at, around) => {
    if (!isObject(value)) return refuse(at, "must be a map; correct it");
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, item(each, `${at}[${shown(key)}]`, around)]),
    );
  };
}

/** Fields that are rejected although the components support them, with the reason and the fix. */
export type Refused = Readonly<Record<string, string>>;

/**
 * Accepts a map with only these fields in this exact spelling, because Go also accepts `KubeConfigFile` for `kubeConfigFile`. Null counts
 * as absent.
 */
export function fields(known: Readonly<Record<string, Shape>>, refused: Refused = {}): Shape {
  return (value, at, around) => {
    if (!isObject(value)) return refuse(at, "must be a map; correct it");
    const out: [string, unknown][] = [];
    for (const [key, each] of Object.entries(value)) {
      const place = at === "" ? shown(key) : `${at}.${shown(key)}`;
      const shape = Object.hasOwn(known, key) ? known[key] : undefined;
      if (shape === undefined) {
        const reason = Object.hasOwn(refused, key) ? refused[key] : undefined;
        return refuse(place, reason ?? "is not an accepted field; remove it, or correct its spelling");
      }
      if (each !== null) out.push([key, shape(each, place, around)]);
    }
    return Object.fromEntries(out);
  };
}

/** Accepts a document with this kind and one of these apiVersions. */
export function document(
  kind: string,
  versions: readonly string[],
  known: Readonly<Record<string, Shape>>,
  refused?: Refused,
): Shape {
  const whole = fields({ apiVersion: oneOf(...versions), kind: oneOf(kind), ...known }, refused);
  return (value, at, around) => {
    const given = isObject(value) ? value : {};
    if (given["kind"] !== kind) return refuse(join(at, "kind"), `must be ${kind}; correct it`);
    if (!versions.includes(given["apiVersion"] as string))
      return refuse(join(at, "apiVersion"), `must be one of ${versions.join(", ")}; correct it`);
    return whole(value, at, around);
  };
}

function join(at: string, field: string): string {
  return at === "" ? field : `${at}.${field}`;
}

/** Returns a key for a message, unless it does not look like a field name. */
function shown(key: string): string {
  return /^[A-Za-z0-9._/-]{1,64}$/.test(key) ? key : "a field of another name";
}
