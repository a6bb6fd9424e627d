import { TABLES } from "./generated/tables.ts";

/** How one field is decoded. */
export interface FieldDescriptor {
  /** The JSON name; empty when the message's fields belong to the message around it. */
  readonly name: string;
  readonly type: string;
  readonly kind: "single" | "repeated" | "map";
  /** Kept even when zero or empty: a pointer, or a field that Go always writes. */
  readonly kept: boolean;
  /** The table whose messages the type's name is looked up in. */
  readonly table: string;
}

/** The fields of a message by number. */
export type MessageDescriptor = ReadonlyMap<number, FieldDescriptor>;

const parsed = new Map<string, MessageDescriptor>();

/** A message of a table, parsed on first use. */
export function findMessage(table: string, name: string): MessageDescriptor | undefined {
  const key = `${table} ${name}`;
  const known = parsed.get(key);
  if (known !== undefined) return known;
  const lines = Object.hasOwn(TABLES, table) ? TABLES[table] : undefined;
  const text = lines !== undefined && Object.hasOwn(lines, name) ? lines[name] : undefined;
  if (text === undefined) return undefined;
  const message = parseFields(text, table);
  parsed.set(key, message);
  return message;
}

function parseFields(text: string, table: string): MessageDescriptor {
  const fields = new Map<number, FieldDescriptor>();
  for (const field of text === "" ? [] : text.split(",")) {
    const [number = "", name = "", type = ""] = field.split(" ");
    const kind = type.endsWith("{}") ? "map" : type.endsWith("[]") ? "repeated" : "single";
    const bare = type.replace(/\{\}$|\[\]$|[?!]$/, "");
    const at = bare.lastIndexOf(":");
    const scope = at < 0 ? table : bare.slice(0, at);
    const kept = type.endsWith("?") || type.endsWith("!");
    fields.set(Number(number), { name, type: bare.slice(at + 1), kind, kept, table: scope });
  }
  return fields;
}

/** The message of a kind, undefined when it is not known. Options may come with any group's version. */
export function findKind(apiVersion: string, kind: string): MessageDescriptor | undefined {
  return findMessage(kind.endsWith("Options") ? "meta" : apiVersion, kind);
}
