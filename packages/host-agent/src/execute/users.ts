import { access, readFile } from "node:fs/promises";
import type { CloudConfigCommand } from "@capstan/userdata";
import type { Footprint } from "./footprint.ts";

/** A command with its standard input. */
export interface Task {
  name: string;
  command: CloudConfigCommand;
  input?: string;
}

const NAME = /^[a-z_][a-z0-9_.-]{0,31}\$?$/i;
const KNOWN = new Set([
  "name",
  "passwd",
  "hashed_passwd",
  "gecos",
  "groups",
  "homedir",
  "inactive",
  "lock_passwd",
  "shell",
  "primary_group",
  "sudo",
  "ssh_authorized_keys",
]);

/** Lists the settings of a user that are not supported. */
export function unsupportedInUsers(users: readonly Record<string, unknown>[]): string[] {
  return users.flatMap((user, index) =>
    user["name"] === "default" || typeof user["name"] !== "string" || !NAME.test(user["name"])
      ? [`users[${index}].name ${JSON.stringify(user["name"] ?? "")}`]
      : Object.keys(user)
          .filter((key) => !KNOWN.has(key))
          .map((key) => `users[${index}].${key}`),
  );
}

/** Returns the commands that create a user and apply the cloud-config's settings; an existing user keeps its account and password. */
export async function userTasks(user: Record<string, unknown>, footprint: Footprint, root: string): Promise<Task[]> {
  const name = String(user["name"]);
  const passwd = await readFile(`${root}/etc/passwd`, "utf8").catch(() => "");
  const isThere = passwd.split("\n").some((line) => line.startsWith(`${name}:`));
  const tasks: Task[] = [];
  if (!isThere) {
    footprint.willMakeUser(name);
    tasks.push({ name: `make user ${name}`, command: ["useradd", ...useraddArguments(user), name] });
  }
  const hash = user["passwd"] ?? user["hashed_passwd"];
  if (typeof hash === "string" && !isThere)
    tasks.push({ name: `password of ${name}`, command: ["chpasswd", "-e"], input: `${name}:${hash}\n` });
  // As cloud-init: locked unless said otherwise.
  if (user["lock_passwd"] !== false && !isThere)
    tasks.push({ name: `lock the password of ${name}`, command: ["passwd", "-l", name] });
  return [...tasks, ...(await sudoTask(user, name, footprint)), ...(await keyTask(user, name, footprint, root))];
}

function useraddArguments(user: Record<string, unknown>): string[] {
  const text = (key: string): string | undefined => (typeof user[key] === "string" ? user[key] : undefined);
  const groups = Array.isArray(user["groups"]) ? user["groups"].map(String) : (text("groups") ?? "").split(",");
  const list = groups.map((group) => group.trim()).filter(Boolean);
  const option = (flag: string, value: string | undefined): string[] => (value === undefined ? [] : [flag, value]);
  return [
    "--create-home",
    ...option("--comment", text("gecos")),
    ...option("--home-dir", text("homedir")),
    ...option("--shell", text("shell")),
    ...option("--gid", text("primary_group")),
    ...(list.length === 0 ? [] : ["--groups", list.join(",")]),
    ...(user["inactive"] === true || user["inactive"] === "true" ? ["--inactive", "0"] : []),
  ];
}

const SUDOERS = "/etc/sudoers.d/90-cloud-init-users";

async function sudoTask(user: Record<string, unknown>, name: string, footprint: Footprint): Promise<Task[]> {
  const rules = [user["sudo"]].flat().filter((rule): rule is string => typeof rule === "string" && rule !== "");
  if (rules.length === 0) return [];
  await footprint.willWrite(SUDOERS);
  return [
    {
      name: `sudo rules of ${name}`,
      command: `umask 227; mkdir -p -m 750 ${SUDOERS.slice(0, SUDOERS.lastIndexOf("/"))}; cat >> ${SUDOERS}`,
      input: `${rules.map((rule) => `${name} ${rule}`).join("\n")}\n`,
    },
  ];
}

async function keyTask(
  user: Record<string, unknown>,
  name: string,
  footprint: Footprint,
  root: string,
): Promise<Task[]> {
  const given = user["ssh_authorized_keys"];
  const keys = Array.isArray(given) ? given.filter((key): key is string => typeof key === "string") : [];
  if (keys.length === 0) return [];
  const home = typeof user["homedir"] === "string" ? user["homedir"] : `/home/${name}`;
  const hasHome = await access(`${root}${home}`).then(
    () => true,
    () => false,
  );
  if (hasHome) await footprint.willWrite(`${home}/.ssh/authorized_keys`);
  return [
    {
      name: `SSH keys of ${name}`,
      // The name was checked; the home is read where the system keeps it.
      command: `home=$(getent passwd ${name} | cut -d: -f6) && mkdir -p -m 700 "$home/.ssh" && cat >> "$home/.ssh/authorized_keys" && chmod 600 "$home/.ssh/authorized_keys" && chown -R ${name}: "$home/.ssh"`,
      input: `${keys.join("\n")}\n`,
    },
  ];
}
