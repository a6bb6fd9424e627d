import { referenceFiles } from "./api-reference.ts";
import { componentFiles } from "./components.ts";

/** Folders that hold only generated files, relative to the repository. */
export const GENERATED_FOLDERS = ["generated/components", "docs/reference/api"] as const;

/** Renders all files that are generated from the kinds, by path relative to the repository. */
export function generatedFiles(version: string): Map<string, string> {
  const [components, reference] = GENERATED_FOLDERS;
  const files = new Map<string, string>();
  for (const [path, text] of componentFiles(version)) files.set(`${components}/${path}`, text);
  for (const [path, text] of referenceFiles()) files.set(`${reference}/${path}`, text);
  return files;
}
