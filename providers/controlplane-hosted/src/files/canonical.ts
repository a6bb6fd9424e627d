import { parseStrictYaml, StrictYamlError } from "@capstan/apimachinery";
import { FILE_TYPES } from "./file-types.ts";
import { FileRefusal, type Surroundings } from "./shape.ts";

/** Where the placements put `files`; a bare name is a file in the same folder. */
const OWN_FOLDERS = /^(?:\$FILES|\/proc\/self\/cwd\/files|\/etc\/kubernetes\/pki|\.)\//;

/** A file that a flag or field refers to, and its required type. */
export interface NamedFile {
  name: string;
  type: string;
}

/**
 * Validates the user's files and writes them again from the parsed values, so that a component cannot interpret them differently. Commands,
 * paths and unknown fields are rejected, because they could break the isolation of tenants.
 */
export function canonicalFiles(
  given: Readonly<Record<string, string>>,
  named: readonly NamedFile[],
  folder: string,
  read: Surroundings["read"] = parseStrictYaml,
): { files: Record<string, string> } | { problem: string } {
  const files: Record<string, string> = {};
  const types = new Map<string, string>();
  const waiting: string[] = [];
  const expect = (name: string, type: string): void => {
    const known = types.get(name);
    if (known === type) return;
    if (known !== undefined) throw new FileRefusal(`is used as ${known} and as ${type}; use two files`);
    types.set(name, type);
    waiting.push(name);
  };
  const around: Surroundings = {
    folder,
    read,
    refer(path, at, type) {
      const name = path.replace(OWN_FOLDERS, "");
      if (!Object.hasOwn(given, name))
        // The value may be a secret in the wrong place.
        throw new FileRefusal(`has ${at}, which is not one of files; add it there and refer to it without a folder`);
      expect(name, type);
      return name;
    },
  };
  let current = "";
  try {
    for (const { name, type } of named) {
      current = name;
      if (Object.hasOwn(given, name)) expect(name, type);
    }
    // A file is checked after the file that refers to it, hence unreferenced files come last.
    for (const rest of ["", ...Object.keys(given)]) {
      current = rest;
      if (rest !== "" && !types.has(rest)) expect(rest, "unreferenced file");
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        current = name;
        const type = FILE_TYPES[types.get(name) ?? ""];
        if (type !== undefined) files[name] = type(given[name] ?? "", around);
      }
    }
  } catch (error) {
    if (error instanceof FileRefusal || error instanceof StrictYamlError)
      return { problem: `${current} ${error.message}` };
    throw error;
  }
  return { files };
}
