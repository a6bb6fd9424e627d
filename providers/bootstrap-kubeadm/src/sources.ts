import { type KubeadmConfig, type KubeadmConfigSpec, Secret } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import type { UserDataFile, UserDataUser } from "@capstan/userdata";
import { fillTemplate } from "./file-template.ts";
import { fail } from "./progress.ts";

/** Users' Secrets may lack the cluster label, so no watch reports when a missing one appears. */
const RETRY_MS = 10_000;

/** Returns the files of a spec, with contents read from the Secrets that they reference. */
export async function resolveFiles(
  config: KubeadmConfig,
  controlPlaneVersion: string | undefined,
  context: ReconcileContext,
): Promise<UserDataFile[]> {
  const files: UserDataFile[] = [];
  for (const [index, file] of (config.spec?.files ?? []).entries()) {
    const { contentFrom, contentFormat, content, ...rest } = file;
    const at = `spec.files[${index}]`;
    const text =
      contentFrom === undefined
        ? (content ?? "")
        : await secretValue(config, contentFrom.secret, `${at}.contentFrom`, context);
    files.push({
      ...rest,
      content: contentFormat === "Template" ? fillTemplate(text, controlPlaneVersion, at) : text,
    });
  }
  return files;
}

/** Returns the users of a spec, with password hashes read from the Secrets that they reference. */
export async function resolveUsers(config: KubeadmConfig, context: ReconcileContext): Promise<UserDataUser[]> {
  const users: UserDataUser[] = [];
  for (const [index, user] of (config.spec?.users ?? []).entries()) {
    const { passwdFrom, ...rest } = user;
    if (passwdFrom === undefined) users.push(rest);
    else
      users.push({
        ...rest,
        passwd: await secretValue(config, passwdFrom.secret, `spec.users[${index}].passwdFrom`, context),
      });
  }
  return users;
}

type Source = NonNullable<NonNullable<NonNullable<KubeadmConfigSpec["files"]>[number]["contentFrom"]>["secret"]>;

async function secretValue(
  config: KubeadmConfig,
  source: Source,
  field: string,
  context: ReconcileContext,
): Promise<string> {
  const key = { namespace: config.metadata.namespace, name: source.name };
  // Read at the server: the cache has only Secrets that belong to clusters.
  const secret = await context.client.get(Secret, key);
  if (secret === undefined) return fail(`${field}: there is no Secret ${source.name} in this namespace`, RETRY_MS);
  const value = secret.data?.[source.key];
  if (value === undefined) return fail(`${field}: Secret ${source.name} has no key ${source.key}`, RETRY_MS);
  return Buffer.from(value, "base64").toString("utf8");
}
