import { isObject, parseYaml } from "@capstan/apimachinery";
import { UserDataError } from "../errors.ts";
import { decodeContent } from "./decode.ts";
import { renderJinja } from "./jinja.ts";

/** An entry of `write_files` with its content decoded. */
export interface CloudConfigFile {
  path: string;
  content: Buffer;
  owner: string;
  /** Octal text, `0644` by default. */
  permissions: string;
  append: boolean;
  /** Written late, after users have been created. */
  defer: boolean;
}

/** A command: a shell line, or a program with its arguments. */
export type CloudConfigCommand = string | string[];

/** A parsed cloud-config. Keys that this package does not support are in `other`, so that the caller can reject them. */
export interface CloudConfig {
  writeFiles: CloudConfigFile[];
  bootCommands: CloudConfigCommand[];
  runCommands: CloudConfigCommand[];
  users: Record<string, unknown>[];
  ntp: { enabled: boolean; servers: string[] } | undefined;
  mounts: string[][];
  diskSetup: Record<string, Record<string, unknown>>;
  filesystems: Record<string, unknown>[];
  other: Record<string, unknown>;
}

/** Instance data for jinja templates, and a limit on the size of the files. */
export interface ParseOptions {
  /** Instance data: `{{ ds.meta_data.local_hostname }}` reads `metadata.local_hostname`. */
  metadata?: Record<string, unknown>;
  /** How many bytes all files may have together once they are decoded; each may have 32 MiB unless set. */
  maxFileBytes?: number;
}

const JINJA_HEADER = /^## *template: *jinja[^\n]*\n/;

/** Parses a cloud-config, rendering it first if it is a jinja template. Throws UserDataError. */
export function parseCloudConfig(text: string, options: ParseOptions = {}): CloudConfig {
  const rendered = renderedText(text, options);
  let value: unknown;
  try {
    value = parseYaml(rendered);
  } catch (error) {
    throw notYaml(error);
  }
  return cloudConfigOf(value, options);
}

/** Parses an untrusted cloud-config with the caller's YAML parser, which can bound time and memory. */
export async function readCloudConfig(
  text: string,
  read: (yaml: string) => Promise<unknown>,
  options: ParseOptions = {},
): Promise<CloudConfig> {
  return cloudConfigOf(
    await read(renderedText(text, options)).catch((error) => Promise.reject(notYaml(error))),
    options,
  );
}

function renderedText(text: string, options: ParseOptions): string {
  const metadata = options.metadata ?? {};
  const rendered = JINJA_HEADER.test(text)
    ? renderJinja(text.replace(JINJA_HEADER, ""), { ds: { meta_data: metadata }, v1: metadata, ...metadata })
    : text;
  if (!/^#cloud-config\s*$/m.test(rendered.split("\n", 1)[0] ?? ""))
    throw new UserDataError("this is not a cloud-config: its first line must be #cloud-config");
  return rendered;
}

function notYaml(error: unknown): UserDataError {
  return new UserDataError(`the cloud-config is not YAML: ${firstLine(error)}`);
}

/** Parsers quote the lines around a mistake, which may hold secrets. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}

function cloudConfigOf(value: unknown, { maxFileBytes }: ParseOptions): CloudConfig {
  if (value !== null && !isObject(value)) throw new UserDataError("the cloud-config must be a map of keys");
  const document: Record<string, unknown> = value ?? {};
  const { write_files, bootcmd, runcmd, users, ntp, mounts, disk_setup, fs_setup, ...other } = document;
  const files = list(write_files, "write_files");
  return {
    writeFiles: filesOf(files, maxFileBytes),
    bootCommands: list(bootcmd, "bootcmd").map((command, i) => commandOf(command, `bootcmd[${i}]`)),
    runCommands: list(runcmd, "runcmd").map((command, i) => commandOf(command, `runcmd[${i}]`)),
    users: list(users, "users").map((user) => (typeof user === "string" ? { name: user } : mapOf(user, "users"))),
    ntp: ntp === undefined || ntp === null ? undefined : ntpOf(mapOf(ntp, "ntp")),
    mounts: list(mounts, "mounts").map((mount) => list(mount, "mounts").map(String)),
    diskSetup: Object.fromEntries(
      Object.entries(mapOf(disk_setup ?? {}, "disk_setup")).map(([device, setup]) => [
        device,
        mapOf(setup ?? {}, "disk_setup"),
      ]),
    ),
    filesystems: list(fs_setup, "fs_setup").map((filesystem) => mapOf(filesystem, "fs_setup")),
    other: { ...other, ...unknownFileKeys(files) },
  };
}

const FILE_KEYS = new Set(["path", "content", "encoding", "owner", "permissions", "append", "defer"]);

/** What a file asks for beyond our knowledge, such as a `source` to fetch it from. */
function unknownFileKeys(files: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(
    files.flatMap((file, index) =>
      Object.entries(isObject(file) ? file : {})
        .filter(([key]) => !FILE_KEYS.has(key))
        .map(([key, value]) => [`write_files[${index}].${key}`, value]),
    ),
  );
}

function list(value: unknown, field: string): unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new UserDataError(`${field} must be a list`);
  return value;
}

function mapOf(value: unknown, field: string): Record<string, unknown> {
  if (!isObject(value)) throw new UserDataError(`${field} must be a map`);
  return value;
}

function commandOf(value: unknown, field: string): CloudConfigCommand {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(String);
  throw new UserDataError(`${field} must be a text or a list of texts`);
}

function filesOf(files: readonly unknown[], maxBytes: number | undefined): CloudConfigFile[] {
  let left = maxBytes;
  return files.map((value, index) => {
    const file = fileOf(value, index, left);
    if (left !== undefined) left -= file.content.length;
    return file;
  });
}

function fileOf(value: unknown, index: number, maxBytes: number | undefined): CloudConfigFile {
  const file = mapOf(value, `write_files[${index}]`);
  const { path, content, encoding, owner, permissions, append, defer } = file;
  if (typeof path !== "string" || path === "") throw new UserDataError(`write_files[${index}] has no path`);
  return {
    path,
    content: decodeContent(textOf(content), typeof encoding === "string" ? encoding : undefined, path, maxBytes),
    owner: typeof owner === "string" ? owner : "root:root",
    permissions: permissionsOf(permissions),
    append: append === true,
    defer: defer === true,
  };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `0640` without quotes was read as an octal number already. */
function permissionsOf(value: unknown): string {
  if (typeof value === "number") return value.toString(8).padStart(4, "0");
  return typeof value === "string" && /^[0-7]{1,5}$/.test(value) ? value : "0644";
}

function ntpOf(ntp: Record<string, unknown>): { enabled: boolean; servers: string[] } {
  return { enabled: ntp["enabled"] !== false, servers: list(ntp["servers"], "ntp.servers").map(String) };
}
