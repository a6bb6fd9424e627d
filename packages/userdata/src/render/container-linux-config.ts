import { isObject, parseYaml } from "@capstan/apimachinery";
import { UserDataError } from "../errors.ts";
import { dataUrl } from "./data-url.ts";
import { type Field, ignitionConfig, type Shape } from "./ignition-shape.ts";

type Json = Record<string, unknown>;

/** Sections that set up programs of Container Linux; nothing here knows them. */
const PROGRAMS = new Set(["etcd", "flannel", "update", "docker", "locksmith"]);

const TYPE_GUIDS: Record<string, string> = {
  raid_containing_root: "be9067b9-ea49-4f15-b4f6-f36f8c9e1818",
  linux_filesystem_data: "0fc63daf-8483-4772-8e79-3d69d8477de4",
  swap_partition: "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f",
  raid_partition: "a19d880f-05fc-4d3b-a006-743f0f84911e",
};

/** Translates a Container Linux Config to Ignition. With `strict`, warnings are errors. */
export function translateContainerLinuxConfig(text: string, strict: boolean): Json {
  let parsed: unknown;
  try {
    parsed = parseYaml(text);
  } catch (error) {
    throw new UserDataError(`additionalConfig is not YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (parsed === null) return {};
  if (!isObject(parsed)) throw new UserDataError("additionalConfig must be a map of keys");
  const program = Object.keys(parsed).find((key) => PROGRAMS.has(key));
  if (program !== undefined)
    throw new UserDataError(
      `additionalConfig: the section ${program} is not supported: write its units and files yourself`,
    );
  const warnings: string[] = [];
  const translated = translate(ignitionConfig, parsed, "", warnings);
  const [first] = warnings;
  if (strict && first !== undefined) throw new UserDataError(`additionalConfig: ${first}`);
  return translated;
}

function translate(shape: Shape, value: unknown, path: string, warnings: string[]): Json {
  if (!isObject(value)) throw new UserDataError(`additionalConfig: ${path || "it"} must be a map`);
  const given = special(path, value, warnings);
  const out: Json = {};
  for (const [key, inner] of Object.entries(given)) {
    const field = shape.find(({ clc }) => clc === key);
    const at = path === "" ? key : `${path}.${key}`;
    if (field === undefined) warnings.push(`unknown field ${at}`);
    else if (inner !== null && inner !== undefined) out[field.name] = translateField(field, inner, at, warnings);
  }
  return out;
}

function translateField({ kind }: Field, value: unknown, path: string, warnings: string[]): unknown {
  if (typeof kind === "object") {
    if ("part" in kind) return translate(kind.part, value, path, warnings);
    if ("one" in kind) return translate(kind.one, value, path, warnings);
    if (!Array.isArray(value)) throw new UserDataError(`additionalConfig: ${path} must be a list`);
    return value.map((item) => translate(kind.many, item, path, warnings));
  }
  const expected = { texts: Array.isArray(value), flag: typeof value === "boolean", number: typeof value === "number" };
  const scalar = ["string", "number", "boolean"].includes(typeof value);
  if (!(kind === "text" || kind === "pointer" ? scalar : expected[kind]))
    throw new UserDataError(`additionalConfig: ${path} has the wrong type`);
  if (kind === "texts") return (value as unknown[]).map(String);
  return kind === "text" && typeof value !== "string" ? JSON.stringify(value) : value;
}

/** Where the two formats differ in more than names. */
function special(path: string, value: Json, warnings: string[]): Json {
  switch (path) {
    case "storage.files":
      return { filesystem: "root", mode: modeOf(value, "file", 0o644, warnings), contents: {}, ...value };
    case "storage.directories":
      return { filesystem: "root", mode: modeOf(value, "directory", 0o755, warnings), ...value };
    case "storage.links":
      return { filesystem: "root", ...value };
    case "storage.files.contents":
      return contentsOf(value);
    case "storage.disks.partitions":
      return partitionOf(value);
    default:
      return hashed(value);
  }
}

function modeOf(value: Json, what: string, mode: number, warnings: string[]): number {
  if (value["mode"] === undefined) warnings.push(`mode unspecified for ${what}, defaulting to 0${mode.toString(8)}`);
  return mode;
}

/** `verification.hash` is a function and a sum there, one text here. */
function hashed(value: Json): Json {
  const verification = value["verification"];
  if (!isObject(verification) || !isObject(verification["hash"])) return value;
  const { function: name, sum } = verification["hash"];
  return { ...value, verification: { hash: `${String(name)}-${String(sum)}` } };
}

function contentsOf(value: Json): Json {
  const { inline, remote, local } = value;
  if (local !== undefined)
    throw new UserDataError("additionalConfig: contents.local cannot work: there are no local files here");
  if (!isObject(remote)) return { source: dataUrl(typeof inline === "string" ? inline : "") };
  if (inline !== undefined) throw new UserDataError("additionalConfig: contents must have one of inline and remote");
  const { url, ...rest } = remote;
  return hashed({ ...rest, source: url });
}

function partitionOf(value: Json): Json {
  const { size, start, type_guid: type, ...rest } = value;
  const guid = typeof type === "string" ? (TYPE_GUIDS[type] ?? type) : undefined;
  return {
    ...rest,
    ...(size === undefined ? {} : { size: mebibytes(size) }),
    ...(start === undefined ? {} : { start: mebibytes(start) }),
    ...(guid === undefined ? {} : { type_guid: guid }),
  };
}

const UNITS: Record<string, number> = { K: 1 / 1024, M: 1, G: 1024, T: 1024 ** 2, P: 1024 ** 3 };

function mebibytes(value: unknown): number {
  const match = /^(\d+(?:\.\d+)?)([KMGTP])(?:i?B)?$/.exec(String(value));
  const result = Number(match?.[1]) * (UNITS[match?.[2] ?? ""] ?? Number.NaN);
  if (!Number.isInteger(result))
    throw new UserDataError(`additionalConfig: ${String(value)} must be a whole number of MiB such as 512MiB or 10GiB`);
  return result;
}
