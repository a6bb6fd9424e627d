import { appendFile, chmod, chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { CloudConfigFile } from "@capstan/userdata";

/** Writes a file as cloud-init does: creates folders, sets owner and mode, and replaces or appends the content. */
export async function writeCloudFile(file: Omit<CloudConfigFile, "defer">, root: string): Promise<void> {
  const path = `${root}${file.path}`;
  await mkdir(dirname(path), { recursive: true });
  if (file.append) await appendFile(path, file.content);
  else await writeFile(path, file.content, { mode: 0o600 });
  const owner = await ownerIds(file.owner, root);
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
  await chmod(path, Number.parseInt(file.permissions, 8));
}

/** Numeric ids of `user:group`; undefined for root:root or when nothing is to change. */
async function ownerIds(owner: string, root: string): Promise<{ uid: number; gid: number } | undefined> {
  const [user = "root", group = user] = owner.split(":");
  if ((user === "root" || user === "") && (group === "root" || group === "")) return undefined;
  return { uid: await idIn(`${root}/etc/passwd`, user), gid: await idIn(`${root}/etc/group`, group) };
}

async function idIn(file: string, name: string): Promise<number> {
  if (/^\d+$/.test(name)) return Number(name);
  const line = (await readFile(file, "utf8")).split("\n").find((text) => text.startsWith(`${name}:`));
  const id = Number(line?.split(":")[2]);
  if (!Number.isInteger(id)) throw new Error(`${name} not found in ${file}`);
  return id;
}
