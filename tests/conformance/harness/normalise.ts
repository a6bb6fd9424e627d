const HEADERS = [
  "content-type",
  "warning",
  "location",
  "allow",
  "vary",
  "cache-control",
  "retry-after",
  "www-authenticate",
  "content-encoding",
];
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** What Go's JSON decoder says about a text that is not JSON, and where it stopped; ours says only that it is not. */
const JSON_ERROR =
  /invalid character '(?:\\.[^']*|[^\\])' (?:looking for beginning of (?:value|object key string)|after (?:object key:value pair|object key|array element|top-level value)|in (?:string literal|string escape code|numeric literal|literal \w+ \(expecting '.'\)))|unexpected end of JSON input|invalid JSON/gu;
/** The place in Go's source that made an error. */
const GO_SOURCE = / in scheme "[^"]*\.go:\d+"/g;
const DAY_MS = 86_400_000;
const AGE = /^(?:\d+s|\d+m(?:\d+s)?|<invalid>|<unknown>)$/;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * Replaces what must differ between two servers. Uids become the name of their object, resource versions numbers in the order
 * they were met on it, so that equal values stay equal and different ones different; current times become `<now>`, given ones stay.
 */
export class Normaliser {
  readonly #uids = new Map<string, string>();
  readonly #lives = new Map<string, number>();
  readonly #revisions = new Map<string, Map<string, string>>();
  readonly #names = new Map<string, string>();

  /** Makes a value that the server chose (a generated name) the same on both sides. */
  name(value: string, label: string): void {
    this.#names.set(value, label);
  }

  headers(raw: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
    const kept: Record<string, string> = {};
    for (const header of HEADERS) {
      const value = raw[header];
      if (value !== undefined) kept[header] = this.text(Array.isArray(value) ? value.join(", ") : value);
    }
    if (kept["location"] !== undefined) kept["location"] = kept["location"].replace(/hash=[0-9A-F]+/, "hash=<hash>");
    if (raw["expires"] !== undefined) kept["expires"] = "<time>";
    if (raw["etag"] !== undefined) kept["etag"] = "<etag>";
    if (raw["audit-id"] !== undefined) kept["audit-id"] = "<audit id>";
    return kept;
  }

  /** A JSON value. */
  value(value: unknown): Json {
    return this.#value(value as Json, [], this.#isListLike(value));
  }

  text(text: string): string {
    let result = text
      .replace(JSON_ERROR, "<json error>")
      .replace(GO_SOURCE, "")
      .replace(UUID, (uid) => this.#uids.get(uid) ?? "<uid>");
    result = result.replace(TIME, (time) => (Math.abs(Date.parse(time) - Date.now()) < DAY_MS ? "<now>" : time));
    for (const [value, name] of this.#names) result = result.split(value).join(`<${name}>`);
    return result;
  }

  #value(value: Json, path: readonly string[], listLike: boolean): Json {
    if (typeof value === "string") return this.#string(value, path, listLike);
    if (Array.isArray(value)) return value.map((item) => this.#value(item, [...path, "[]"], listLike));
    if (value === null || typeof value !== "object") return value;
    this.#meet(value);
    const { managedFields } = value;
    // Entries are ordered by time, and the two servers may disagree on the second.
    if (Array.isArray(managedFields)) managedFields.sort((a, b) => (entryKey(a) < entryKey(b) ? -1 : 1));
    const result: { [key: string]: Json } = {};
    const revisions = this.#revisionsOf(value["uid"]);
    for (const [key, item] of Object.entries(value))
      result[this.text(key)] =
        key === "resourceVersion" && typeof item === "string" && /^\d+$/.test(item) && !(path.length === 1 && listLike)
          ? label(revisions, item)
          : this.#value(item, [...path, key], listLike);
    return result;
  }

  /** Names the uid of an object that is seen for the first time. */
  #meet(object: { [key: string]: Json }): void {
    const { metadata } = object;
    if (metadata === null || typeof metadata !== "object" || Array.isArray(metadata)) return;
    const { name, uid } = metadata;
    if (typeof name !== "string" || typeof uid !== "string" || this.#uids.has(uid)) return;
    const life = (this.#lives.get(name) ?? 0) + 1;
    this.#lives.set(name, life);
    this.#uids.set(uid, `<uid of ${this.#names.get(name) ?? name} ${life}>`);
  }

  #revisionsOf(uid: Json | undefined): Map<string, string> {
    const key = typeof uid === "string" ? uid : "";
    const known = this.#revisions.get(key) ?? new Map<string, string>();
    this.#revisions.set(key, known);
    return known;
  }

  #string(text: string, path: readonly string[], listLike: boolean): string {
    const key = path.at(-1);
    // A list's own revision moves with every write on the server.
    if (key === "resourceVersion" && /^\d+$/.test(text) && path.length === 2 && listLike) return "<revision>";
    if (key === "continue" && text !== "") return continueToken(text);
    if (key === "storageVersionHash") return "<hash>";
    if (path.includes("cells") && AGE.test(text)) return "<age>";
    return this.text(text);
  }

  #isListLike(value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    const { kind, items } = value as { kind?: unknown; items?: unknown };
    return kind === "Table" || (typeof kind === "string" && kind.endsWith("List")) || Array.isArray(items);
  }
}

function entryKey(entry: Json): string {
  const { operation, manager, apiVersion, subresource } = entry as { [key: string]: string };
  return [operation, manager, apiVersion, subresource ?? ""].join("/");
}

/** `<revision 3>`, the same for the same value. */
function label(known: Map<string, string>, value: string): string {
  const text = known.get(value) ?? `<revision ${known.size + 1}>`;
  known.set(value, text);
  return text;
}

/** The contents of a continue token, without its revision. */
function continueToken(token: string): string {
  const text = Buffer.from(token, "base64url").toString();
  return `<continue ${text.replace(/"rv":\d+/, '"rv":<revision>')}>`;
}
