import { createHash } from "node:crypto";
import { isObject } from "@capstan/apimachinery";
import { UserDataError } from "../errors.ts";
import { decodeDataUrl } from "../parse/data-url.ts";
import { decodeContent } from "../parse/decode.ts";
import { unsupportedInIgnition } from "./ignition-known.ts";
import { addUnits } from "./ignition-units.ts";
import { addIgnitionGroup, addIgnitionUser } from "./ignition-users.ts";
import { type Json, numberAt, objectAt, objectsAt, textAt } from "./json.ts";
import { quote, type Script } from "./script.ts";

/** Adds the steps of an Ignition config, version 2 or 3, in Ignition's order; returns what cannot be done. */
export function compileIgnition(text: string, script: Script): string[] {
  const config = read(text);
  const version = textAt(objectAt(config, "ignition"), "version") ?? "";
  if (!/^[23]\./.test(version))
    return [`ignition.version ${JSON.stringify(version)} is not supported: it must be 2 or 3`];
  const problems = unsupportedInIgnition(config);
  if (problems.length > 0) return problems.map((path) => `${path} is not supported`);
  const passwd = objectAt(config, "passwd");
  const storage = objectAt(config, "storage");
  for (const group of objectsAt(passwd, "groups")) addIgnitionGroup(script, group);
  for (const user of objectsAt(passwd, "users")) addIgnitionUser(script, user);
  for (const each of objectsAt(storage, "directories")) addDirectory(script, each);
  for (const [index, each] of objectsAt(storage, "files").entries())
    addFile(script, each, `storage.files[${index}]`, version.startsWith("3."));
  for (const each of objectsAt(storage, "links")) addLink(script, each);
  addUnits(script, objectsAt(objectAt(config, "systemd"), "units"));
  return [];
}

function read(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which may hold secrets.
    throw new UserDataError("this is not an Ignition config: it is not JSON");
  }
  if (!isObject(value)) throw new UserDataError("this is not an Ignition config: it must be an object");
  return value;
}

/** Ids and names alike; what is missing is root's. */
function ownerOf(each: Json): string {
  const part = (key: string): string => {
    const given = objectAt(each, key);
    return textAt(given, "name") ?? String(numberAt(given, "id") ?? "root");
  };
  return `${part("user")}:${part("group")}`;
}

function pathOf(each: Json): string {
  const path = textAt(each, "path") ?? "";
  if (!path.startsWith("/")) throw new UserDataError(`${JSON.stringify(path)} is not an absolute path`);
  return path;
}

function modeOf(each: Json, otherwise: string): string {
  return numberAt(each, "mode")?.toString(8).padStart(4, "0") ?? otherwise;
}

function addDirectory(script: Script, each: Json): void {
  const path = pathOf(each);
  script.step(
    `folder ${path}`,
    ...(each["overwrite"] === true ? [`[ -d ${quote(path)} ] || rm -f -- ${quote(path)}`] : []),
    `mkdir -p -- ${quote(path)}`,
    `capstan_own ${quote(path)} ${modeOf(each, "0755")} ${quote(ownerOf(each))}`,
  );
}

/** Version 2 overwrites unless asked not to, version 3 the other way round; what version 3 appends is a list. */
function addFile(script: Script, each: Json, at: string, isThree: boolean): void {
  const path = pathOf(each);
  const base = { path, mode: modeOf(each, "0644"), owner: ownerOf(each) };
  const { append } = each;
  const appended = Array.isArray(append)
    ? objectsAt(each, "append")
    : append === true
      ? [objectAt(each, "contents")]
      : [];
  const contents = objectAt(each, "contents");
  const overwrites = each["overwrite"] ?? !isThree;
  if (append !== true && overwrites === false && appended.length === 0)
    script.step(`no other ${path}`, `if [ -e ${quote(path)} ]; then echo ${quote(`${path} exists`)}; exit 1; fi`);
  if (append !== true && (textAt(contents, "source") !== undefined || appended.length === 0))
    script.file({ ...base, content: contentOf(contents, `${at}.contents`) });
  for (const [index, part] of appended.entries())
    script.file({ ...base, content: contentOf(part, `${at}.append[${index}]`), append: true });
}

function contentOf(contents: Json, at: string): Buffer {
  const source = textAt(contents, "source") ?? "";
  if (source === "") return Buffer.alloc(0);
  const bytes = decodeDataUrl(source, `${at}.source`);
  const hash = textAt(objectAt(contents, "verification"), "hash");
  const compression = textAt(contents, "compression") ?? "";
  if (hash !== undefined) verify(bytes, hash, at);
  if (compression === "") return bytes;
  if (compression !== "gzip")
    throw new UserDataError(`${at}.compression ${JSON.stringify(compression)} is not supported`);
  return decodeContent(bytes.toString("latin1"), "gzip", at);
}

/** The hash is of what the source has, packed or not. */
function verify(bytes: Buffer, hash: string, at: string): void {
  const [name = "", sum = ""] = hash.split("-", 2);
  if (!["sha512", "sha256"].includes(name)) throw new UserDataError(`${at}.verification.hash is not supported`);
  if (createHash(name).update(bytes).digest("hex") !== sum)
    throw new UserDataError(`${at}: the content does not have the hash in verification.hash`);
}

function addLink(script: Script, each: Json): void {
  const path = pathOf(each);
  const target = textAt(each, "target") ?? "";
  const [to, from] = [quote(target), quote(path)];
  script.step(
    `link ${path}`,
    `capstan_folder ${from}`,
    ...(each["overwrite"] === true ? [`rm -rf -- ${from}`] : []),
    each["hard"] === true
      ? `ln -- ${to} ${from}`
      : `if [ "$(readlink -- ${from})" != ${to} ]; then ln -s -- ${to} ${from}; fi`,
    ...(each["hard"] === true ? [] : [`chown -h -- ${quote(ownerOf(each))} ${from}`]),
  );
}
