import { access, readFile } from "node:fs/promises";
import { type CloudConfigCommand, sshKeysOf, sudoRulesOf, useraddArguments } from "@capstan/userdata";
import type { Footprint } from "./footprint.ts";

/** A command with its standard input. */
export interface Task {
  name: string;
  command: CloudConfigCommand;
  input?: string;
}

/** Returns the commands that create a user and apply the cloud-config's settings; an existing user keeps its account and password. */
export async function userTasks(user: Record<string, unknown>, footprint: Footprint, root: string): Promise<Task[]> {
  const name = String(user["name"]);
  const passwd = await readFile(`${root}/etc/passwd`, "utf8").catch(() => "");
  const isThere = passwd.split("\n").some((line) => line.startsWith(`${name}:`));
  const tasks: Task[] = [];
  if (!isThere) {
    footprint.willMakeUser(name);
    tasks.push({ name: `create user ${name}`, command: ["useradd", ...useraddArguments(user), name] });
  }
  const hash = user["passwd"] ?? user["hashed_passwd"];
  if (typeof hash === "string" && !isThere)
    tasks.push({ name: `password of ${name}`, command: ["chpasswd", "-e"], input: `${name}:${hash}\n` });
  // As cloud-init: locked unless said otherwise.
  if (user["lock_passwd"] !== false && !isThere)
    tasks.push({ name: `lock the password of ${name}`, command: ["passwd", "-l", name] });
  return [...tasks, ...(await sudoTask(user, name, footprint)), ...(await keyTask(user, name, footprint, root))];
}

const SUDOERS = "/etc/sudoers.d/90-cloud-init-users";

async function sudoTask(user: Record<string, unknown>, name: string, footprint: Footprint): Promise<Task[]> {
  const rules = sudoRulesOf(user);
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
  const keys = sshKeysOf(user);
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
