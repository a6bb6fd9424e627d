/**
 * Type of an Ignition field. These types describe Ignition as data, with fields in the order in which Go encodes them, and drive both the
 * translation of Container Linux Configs and the byte-exact JSON.
 */
export type FieldKind =
  | "text"
  | "flag"
  /** A flag or number that is written even when false or 0. */
  | "pointer"
  | "number"
  | "texts"
  | { readonly one: Shape }
  /** An object that is written even when empty. */
  | { readonly part: Shape }
  | { readonly many: Shape };

/** A field of an Ignition object, with its type and its name in Container Linux Config. */
export interface Field {
  readonly name: string;
  /** Its name in Container Linux Config; undefined if that has no such field. */
  readonly clc: string | undefined;
  readonly kind: FieldKind;
  /** Written even when empty. */
  readonly always?: boolean;
}

/** The fields of an Ignition object, in the order in which Go encodes them. */
export type Shape = readonly Field[];

const field = (name: string, kind: FieldKind, clc: string | undefined = snake(name)): Field => ({ name, clc, kind });
const always = (name: string, kind: FieldKind = "text"): Field => ({ ...field(name, kind), always: true });

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const verification: Shape = [field("hash", "text")];
const reference: Shape = [always("source"), field("verification", { part: verification })];

const ignition: Shape = [
  field("config", { part: [field("append", { many: reference }), field("replace", { one: reference })] }),
  field("security", { part: [field("tls", { part: [field("certificateAuthorities", { many: reference })] })] }),
  field("timeouts", { part: [field("httpResponseHeaders", "pointer"), field("httpTotal", "pointer")] }),
  field("version", "text", undefined),
];

const dropins: Field = field("dropins", { many: [field("contents", "text"), always("name")] });
const networkdUnit: Shape = [field("contents", "text"), dropins, always("name")];
const unit: Shape = [
  field("contents", "text"),
  dropins,
  field("enable", "flag"),
  field("enabled", "pointer"),
  field("mask", "flag"),
  always("name"),
];

const account = [field("gecos", "text"), field("groups", "texts"), field("homeDir", "text")];
const accountFlags = [field("noCreateHome", "flag"), field("noLogInit", "flag"), field("noUserGroup", "flag")];
const userCreate: Shape = [
  ...account,
  ...accountFlags,
  field("primaryGroup", "text"),
  field("shell", "text"),
  field("system", "flag"),
  field("uid", "pointer"),
];
const user: Shape = [
  field("create", { one: userCreate }),
  ...account,
  always("name"),
  ...accountFlags,
  field("passwordHash", "pointer"),
  field("primaryGroup", "text"),
  field("sshAuthorizedKeys", "texts"),
  field("shell", "text"),
  field("system", "flag"),
  field("uid", "pointer"),
];
const group: Shape = [field("gid", "pointer"), always("name"), field("passwordHash", "text"), field("system", "flag")];

const identity: Shape = [field("id", "pointer"), field("name", "text")];
const node: Shape = [
  always("filesystem"),
  field("group", { one: identity }),
  field("overwrite", "pointer"),
  always("path"),
  field("user", { one: identity }),
];
const contents: Shape = [
  field("compression", "text"),
  field("source", "text"),
  field("verification", { part: verification }),
];
const file: Shape = [...node, field("append", "flag"), field("contents", { part: contents }), field("mode", "pointer")];
const directory: Shape = [...node, field("mode", "pointer")];
const link: Shape = [...node, field("hard", "flag"), always("target")];
const partition: Shape = [
  field("guid", "text"),
  field("label", "pointer"),
  field("number", "number"),
  field("sizeMiB", "pointer", "size"),
  field("startMiB", "pointer", "start"),
  field("typeGuid", "text"),
];
const disk: Shape = [always("device"), field("partitions", { many: partition }), field("wipeTable", "flag")];
const mount: Shape = [
  field("create", { one: [field("force", "flag"), field("options", "texts")] }),
  always("device"),
  always("format"),
  field("label", "pointer"),
  field("options", "texts"),
  field("uuid", "pointer"),
  field("wipeFilesystem", "flag"),
];
const filesystem: Shape = [field("mount", { one: mount }), field("name", "text"), field("path", "pointer")];
const raid: Shape = [
  { ...always("devices", "texts") },
  always("level"),
  always("name"),
  field("options", "texts"),
  field("spares", "number"),
];

/** The shape of a whole Ignition 2.3 config. */
export const ignitionConfig: Shape = [
  field("ignition", { part: ignition }),
  field("networkd", { part: [field("units", { many: networkdUnit })] }),
  field("passwd", { part: [field("groups", { many: group }), field("users", { many: user })] }),
  field("storage", {
    part: [
      field("directories", { many: directory }),
      field("disks", { many: disk }),
      field("files", { many: file }),
      field("filesystems", { many: filesystem }),
      field("links", { many: link }),
      field("raid", { many: raid }),
    ],
  }),
  field("systemd", { part: [field("units", { many: unit })] }),
];

type Json = Record<string, unknown>;

/** The value with its fields in Go's order, without what Go leaves out. */
function ordered(shape: Shape, value: Json): Json {
  const out: Json = {};
  for (const { name, kind, always: written } of shape) {
    const given = value[name];
    if (typeof kind === "object") {
      if ("part" in kind) out[name] = ordered(kind.part, (given ?? {}) as Json);
      else if ("one" in kind && given !== undefined) out[name] = ordered(kind.one, given as Json);
      else if ("many" in kind && Array.isArray(given) && given.length > 0)
        out[name] = given.map((item) => ordered(kind.many, item as Json));
    } else if (kind === "pointer" ? given !== undefined : written === true || !isEmpty(given))
      out[name] = given ?? (kind === "texts" ? null : "");
  }
  return out;
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === "" ||
    value === 0 ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  );
}

/** Encodes an Ignition config as Go's JSON encoder does, with `<`, `>` and `&` escaped. */
export function ignitionJson(config: Json): string {
  return JSON.stringify(ordered(ignitionConfig, config)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
