import { isObject } from "@capstan/apimachinery";
import type { Json } from "./json.ts";

/** What is done with a key: all of it, or the keys inside. The items of lists have no level of their own. */
type Known = true | { readonly [key: string]: Known };

const NODE = { path: true, overwrite: true, user: { id: true, name: true }, group: { id: true, name: true } } as const;
const CONTENTS = { source: true, compression: true, verification: true } as const;
const ACCOUNT = {
  gecos: true,
  groups: true,
  homeDir: true,
  noCreateHome: true,
  noLogInit: true,
  noUserGroup: true,
  primaryGroup: true,
  shell: true,
  system: true,
  uid: true,
} as const;

const KNOWN: Known = {
  ignition: { version: true, timeouts: true },
  passwd: {
    groups: { name: true, gid: true, system: true },
    users: { name: true, ...ACCOUNT, create: ACCOUNT, passwordHash: true, sshAuthorizedKeys: true },
  },
  storage: {
    // "root" is the only file system that there is, see below.
    files: { ...NODE, filesystem: true, mode: true, contents: CONTENTS, append: CONTENTS },
    directories: { ...NODE, filesystem: true, mode: true },
    links: { ...NODE, filesystem: true, hard: true, target: true },
  },
  systemd: {
    units: {
      name: true,
      contents: true,
      enable: true,
      enabled: true,
      mask: true,
      dropins: { name: true, contents: true },
    },
  },
};

/** Lists what a script cannot do, as paths. Disks, other file systems, networks and further configs are among it. */
export function unsupportedInIgnition(config: Json): string[] {
  return unsupported(config, KNOWN, "");
}

function unsupported(value: unknown, known: Known | undefined, path: string): string[] {
  if (isEmpty(value)) return [];
  if (known === undefined) return [path];
  if (path.endsWith(".filesystem")) return value === "root" ? [] : [`${path} ${JSON.stringify(value)}`];
  if (path.endsWith(".source") && !(typeof value === "string" && value.startsWith("data:")))
    return [`${path} (no data URL)`];
  if (known === true || typeof value === "boolean") return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => unsupported(item, known, `${path}[${index}]`));
  if (!isObject(value)) return [path];
  return Object.entries(value).flatMap(([key, item]) =>
    unsupported(item, Object.hasOwn(known, key) ? known[key] : undefined, path === "" ? key : `${path}.${key}`),
  );
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === false || value === 0) return true;
  return typeof value === "object" && Object.values(value).every(isEmpty);
}
