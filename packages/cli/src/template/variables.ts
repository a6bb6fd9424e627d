import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { isObject, parseYaml } from "@capstan/apimachinery";
import { UserError } from "../command.ts";
import type { LookUp } from "./process.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Looks variables up in the environment, then in clusterctl's config file. */
export async function variableValues(env: Environment, configFile: string | undefined): Promise<LookUp> {
  const home = env["XDG_CONFIG_HOME"] ?? join(env["HOME"] ?? homedir(), ".config");
  const path = configFile ?? join(home, "cluster-api", "clusterctl.yaml");
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (configFile === undefined) return "";
    throw new UserError(`--config ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  const values = text === "" ? {} : parseYaml(text);
  // The file's keys are not case-sensitive.
  const fromFile = new Map(
    Object.entries(isObject(values) ? values : {}).map(([key, value]) => [key.toUpperCase(), value]),
  );
  return (name) => {
    if (env[name] !== undefined) return env[name];
    const value = fromFile.get(name.toUpperCase());
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? String(value)
      : undefined;
  };
}
