import { readFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { isObject } from "@capstan/apimachinery";

/** What the operator of the host allows to machines that run next to the manager. */
export interface HostSettings {
  /** Folders whose files may be images, kernels and initial RAM disks. */
  readonly imageFolders: readonly string[];
  /** Folders that guests may share. */
  readonly volumeFolders: readonly string[];
  /** Whether guests may connect to other machines: they then also reach what listens on the loopback addresses of the host. */
  readonly openUserNetwork: boolean;
  /** Where machines and images are kept. */
  readonly directory?: string | undefined;
  readonly diskCache?: "none" | "writeback" | undefined;
  /** The QEMU that is used, by default that of PATH. */
  readonly qemu?: string | undefined;
  readonly qemuImg?: string | undefined;
  /** Memory that all machines may have together; half of the host's by default. */
  readonly memoryMiB?: number | undefined;
}

/** The settings of a host whose operator has said nothing. */
export const CLOSED_HOST: HostSettings = { imageFolders: [], volumeFolders: [], openUserNetwork: false };

/** Reads the settings of this host; without a file, nothing is allowed. Throws when the file is not as it must be. */
export async function readHostSettings(file: string): Promise<HostSettings> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return CLOSED_HOST;
    throw error;
  }
  return parseHostSettings(text, file);
}

type Check = (value: unknown) => boolean;
const isPath: Check = (value) => typeof value === "string" && isAbsolute(value);
const arePaths: Check = (value) => Array.isArray(value) && value.every(isPath);

const FIELDS: Record<keyof HostSettings, [Check, string]> = {
  imageFolders: [arePaths, "a list of absolute paths"],
  volumeFolders: [arePaths, "a list of absolute paths"],
  openUserNetwork: [(value) => typeof value === "boolean", "true or false"],
  directory: [isPath, "an absolute path"],
  diskCache: [(value) => value === "none" || value === "writeback", "none or writeback"],
  qemu: [isPath, "an absolute path"],
  qemuImg: [isPath, "an absolute path"],
  memoryMiB: [(value) => Number.isSafeInteger(value) && Number(value) > 0, "a whole number above 0"],
};

/** Returns the settings that a text states; `where` names it in errors. */
export function parseHostSettings(text: string, where: string): HostSettings {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${where} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(value)) throw new Error(`${where} is not an object`);
  for (const [name, found] of Object.entries(value)) {
    const [check, wanted] = (Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof HostSettings] : undefined) ?? [];
    if (check === undefined)
      throw new Error(`${where}: there is no setting ${name}; use ${Object.keys(FIELDS).join(", ")}`);
    if (!check(found)) throw new Error(`${where}: ${name} must be ${wanted}`);
  }
  return { ...CLOSED_HOST, ...value };
}
