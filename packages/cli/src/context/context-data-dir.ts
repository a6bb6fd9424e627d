import { open } from "node:fs/promises";
import { delimiter, isAbsolute } from "node:path";
import { isObject, parseYaml } from "@capstan/apimachinery";
import { INSTANCE_EXTENSION } from "@capstan/manager/instance";

const MAX_BYTES = 1024 * 1024;

/**
 * Returns the data directory named in the selected kubeconfig context, if any. `up` writes it there, so that exporting KUBECONFIG selects
 * the API and the data directory together.
 */
export async function contextDataDir(files: readonly string[], context?: string): Promise<string | undefined> {
  let chosen = context;
  for (const file of files) {
    const config = await read(file);
    if (!isObject(config)) continue;
    chosen ??= text(config["current-context"]);
    const entry = list(config["contexts"]).find((one) => isObject(one) && one["name"] === chosen);
    if (entry !== undefined) return dataDirIn(entry);
  }
  return undefined;
}

/** Returns the kubeconfig files that a command reads: --kubeconfig, or those of KUBECONFIG. */
export function kubeconfigFiles(
  explicit: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  if (explicit !== undefined) return [explicit];
  return (env["KUBECONFIG"] ?? "").split(delimiter).filter((file) => file !== "");
}

function dataDirIn(entry: unknown): string | undefined {
  const context = isObject(entry) ? entry["context"] : undefined;
  const extensions = isObject(context) ? list(context["extensions"]) : [];
  const found = extensions.find((one) => isObject(one) && one["name"] === INSTANCE_EXTENSION);
  const extension = isObject(found) ? found["extension"] : undefined;
  const dataDir = isObject(extension) ? text(extension["dataDir"]) : undefined;
  return dataDir !== undefined && isAbsolute(dataDir) ? dataDir : undefined;
}

/** The content of a kubeconfig that mentions an instance; read errors are reported when a command connects. */
async function read(file: string): Promise<unknown> {
  try {
    const handle = await open(file, "r");
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
      const content = buffer.subarray(0, bytesRead).toString("utf8");
      return content.includes(INSTANCE_EXTENSION) ? parseYaml(content) : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
