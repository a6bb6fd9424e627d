import { readFile, realpath, stat } from "node:fs/promises";
import { writeFileAtomic } from "@capstan/os";

/** Writes values into `users[NAME].user.auth-provider.config` of a kubeconfig; the rest of the file, including comments, is unchanged. */
export async function keepTokens(file: string, user: string, values: Readonly<Record<string, string>>): Promise<void> {
  try {
    await rewrite(await realpath(file), user, values);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot save new tokens in ${file}, which must be writable: ${reason}`);
  }
}

async function rewrite(file: string, user: string, values: Readonly<Record<string, string>>): Promise<void> {
  const { isMap, isSeq, parseDocument } = await import("yaml");
  const document = parseDocument(await readFile(file, "utf8"));
  const users = document.get("users");
  const index = isSeq(users) ? users.items.findIndex((entry) => isMap(entry) && entry.get("name") === user) : -1;
  if (index < 0) throw new Error(`there is no user "${user}" any more`);
  for (const [key, value] of Object.entries(values))
    document.setIn(["users", index, "user", "auth-provider", "config", key], value);
  const { mode } = await stat(file);
  // The mode of the old file: a private one stays private.
  await writeFileAtomic(file, document.toString({ lineWidth: 0 }), { mode: mode & 0o777 });
}
