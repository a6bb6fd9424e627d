import { isObject } from "@capstan/apimachinery";
import { type CloudConfig, type CloudConfigFile, parseCloudConfig } from "../parse/cloud-config.ts";
import { missingVariable } from "../parse/missing-variable.ts";
import {
  groupsOfUser,
  isAccountName,
  sshKeysOf,
  sudoRulesOf,
  unsupportedInUsers,
  useraddArguments,
} from "../parse/users.ts";
import { checkTimeServers, TIME_SERVICES } from "../time-services.ts";
import { quote, type Script, type ScriptFile, withInput } from "./script.ts";

/** The machine that a script is for. */
export interface CompileOptions {
  readonly hostname: string;
  /** What `ds.meta_data` has besides the host name. */
  readonly instanceData: Record<string, unknown>;
}

/** More than any Secret unpacks to by accident. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/** Adds the steps of a cloud-config in the order of cloud-init's modules; returns what cannot be done. */
export function compileCloudConfig(text: string, options: CompileOptions, script: Script): string[] {
  const { hostname } = options;
  const names = { hostname, local_hostname: hostname, "local-hostname": hostname };
  const metadata: Record<string, unknown> = { ...names, ...options.instanceData };
  const config = parseCloudConfig(text, { metadata, maxFileBytes: MAX_FILE_BYTES });
  const problems = problemsOf(config, hostname, metadata);
  if (problems.length > 0) return problems;
  const instance = metadata["instance_id"] ?? metadata["instance-id"];
  const environment = typeof instance === "string" ? `INSTANCE_ID=${quote(instance)} ` : "";
  script.commands("bootcmd", config.bootCommands, environment);
  for (const file of config.writeFiles) if (!file.defer) script.file(scriptFile(file));
  for (const [name, members] of groupsOf(config.other["groups"])) addGroup(script, name, members);
  for (const user of config.users) addUser(script, user);
  const rootKeys = sshKeysOf(config.other);
  if (rootKeys.length > 0) script.step("SSH keys of root", withInput("capstan_keys root", rootKeys.join("\n")));
  if (config.ntp?.enabled === true && config.ntp.servers.length > 0) addTimeServers(script, config.ntp.servers);
  for (const file of config.writeFiles) if (file.defer) script.file(scriptFile(file));
  script.commands("runcmd", config.runCommands);
  return [];
}

/** Keys that are done here, or that ask for what a compiled script does anyway. */
const KNOWN = new Set(["groups", "ssh_authorized_keys", "disable_root", "preserve_hostname", "hostname"]);

function problemsOf(config: CloudConfig, hostname: string, metadata: Record<string, unknown>): string[] {
  const { other } = config;
  const missing = missingVariable(config);
  return [
    ...(missing === undefined
      ? []
      : [`{{ ${missing} }} is not defined: ds.meta_data has ${Object.keys(metadata).toSorted().join(", ")}`]),
    ...(Object.keys(config.diskSetup).length > 0 ? ["disk_setup is not supported: the machine has no disks"] : []),
    ...(config.filesystems.length > 0 ? ["fs_setup is not supported: the machine has no disks"] : []),
    ...(config.mounts.length > 0 ? ["mounts is not supported: the machine has no disks"] : []),
    ...Object.keys(other)
      .filter((key) => !KNOWN.has(key))
      .map((key) => `${key} is not supported`),
    ...unsupportedInUsers(config.users).map((path) => `${path} is not supported`),
    ...(other["hostname"] === undefined || other["hostname"] === hostname
      ? []
      : [`hostname is not supported: the machine is called ${hostname}`]),
    ...[...groupsOf(other["groups"])]
      .flatMap(([name, members]) => [name, ...members])
      .filter((name) => !isAccountName(name))
      .map((name) => `groups: ${JSON.stringify(name)} is not a name`),
    ...config.users
      .flatMap((user) => [user["passwd"], user["hashed_passwd"]])
      .filter((hash) => typeof hash === "string" && /[\n:]/.test(hash))
      .map(() => "users: a password hash has a line end or a colon"),
  ];
}

function scriptFile({ path, content, permissions, owner, append }: CloudConfigFile): ScriptFile {
  // cloud-init resolves relative paths from its working directory, the root.
  const absolute = path.startsWith("/") ? path : `/${path}`;
  return { path: absolute, content, mode: permissions, owner: ownerOf(owner), append };
}

/** `user:group` as chown reads it. In cloud-init an empty part, -1 and none keep what is. */
function ownerOf(owner: string): string {
  const at = owner.indexOf(":");
  const parts = at < 0 ? [owner] : [owner.slice(0, at), owner.slice(at + 1)];
  const [user = "", group = ""] = parts.map((part) => (/^\s*(-1|none)?\s*$/i.test(part) ? "" : part.trim()));
  return group === "" ? user : `${user}:${group}`;
}

/** Groups with their members: a list of names and maps, a map, or names separated by commas. */
function groupsOf(value: unknown): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  const items = typeof value === "string" ? value.split(",") : Array.isArray(value) ? (value as unknown[]) : [value];
  for (const item of items)
    for (const [name, members] of isObject(item) ? Object.entries(item) : item ? [[String(item).trim(), []]] : [])
      groups.set(String(name), [...(groups.get(String(name)) ?? []), ...[members ?? []].flat().map(String)]);
  return groups;
}

function addGroup(script: Script, name: string, members: readonly string[]): void {
  // Users of the same cloud-config are made later, and name their groups themselves.
  const add = members.map(
    (member) => `if getent passwd ${quote(member)} > /dev/null; then usermod -a -G ${quote(name)} ${quote(member)}; fi`,
  );
  script.step(`group ${name}`, `capstan_group ${quote(name)}`, ...add);
}

function addUser(script: Script, user: Record<string, unknown>): void {
  const name = quote(String(user["name"]));
  const input = (command: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [withInput(command, lines.join("\n"))];
  const password = (hash: unknown): string[] =>
    typeof hash === "string" && hash !== "" ? [withInput("chpasswd -e", `${String(user["name"])}:${hash}`)] : [];
  const primary = typeof user["primary_group"] === "string" ? [user["primary_group"]] : [];
  script.step(
    `user ${name}`,
    ...[...groupsOfUser(user), ...primary].map((group) => `capstan_group ${quote(group)}`),
    `if ! getent passwd ${name} > /dev/null; then`,
    `useradd ${useraddArguments(user).map(quote).join(" ")} ${name}`,
    ...password(user["passwd"]),
    "fi",
    ...password(user["hashed_passwd"]),
    ...(user["lock_passwd"] === false ? [] : [`passwd -l ${name} > /dev/null`]),
    ...input(
      "capstan_sudo",
      sudoRulesOf(user).map((rule) => `${String(user["name"])} ${rule}`),
    ),
    ...input(`capstan_keys ${name}`, sshKeysOf(user)),
  );
}

/** Whether there is a time service is known on the machine only; one that shares its host's clock has none. */
function addTimeServers(script: Script, servers: readonly string[]): void {
  checkTimeServers(servers);
  const branches = TIME_SERVICES.flatMap(({ programs, file, lines, append, units }, index) => [
    `${index === 0 ? "if" : "elif"} ${programs.map((program) => `[ -e ${program} ]`).join(" || ")}; then`,
    `capstan_folder ${file}`,
    withInput(`cat ${append ? ">>" : ">"} ${file}`, lines(servers)),
    `if [ -d /run/systemd/system ]; then ${units.map((unit) => `systemctl try-restart ${unit}`).join(" || ")}; fi`,
  ]);
  script.step(
    "time servers",
    ...branches,
    "else",
    "echo 'no time service is installed: the clock is the one of the host'",
    "fi",
  );
}
