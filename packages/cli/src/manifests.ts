import { readFile } from "node:fs/promises";
import { parseYamlDocuments, toGoYaml, type Unstructured } from "@capstan/apimachinery";
import { readText } from "@capstan/apimachinery/foreign";
import { type CommandInput, UserError, usageError } from "./command.ts";

/** Reads manifests or a template from a file, a URL, or standard input (`-`). */
export async function readSource(input: CommandInput, source: string): Promise<string> {
  if (source === "-") {
    if (input.io.stdin === undefined) throw usageError("standard input cannot be read", "name a file instead of -");
    return await input.io.stdin();
  }
  if (/^https?:\/\//.test(source)) return await download(source);
  return await readFile(source, "utf8").catch((error: unknown) => {
    throw new UserError(`${source} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
}

const MAX_TEMPLATE = 16 * 1024 * 1024;

/** GitHub's page of a file is HTML, so the raw file is downloaded instead. */
async function download(address: string): Promise<string> {
  const blob = /^https:\/\/github\.com\/([^/]+\/[^/]+)\/blob\/(.+)$/.exec(address);
  const url = blob === null ? address : `https://raw.githubusercontent.com/${blob[1]}/${blob[2]}`;
  const response = await fetch(url).catch((error: unknown) => {
    throw new UserError(`${url} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (!response.ok) throw new UserError(`${url} answers ${response.status}`);
  return response.body === null ? "" : await readText(response.body, MAX_TEMPLATE, url);
}

/** Returns the objects of manifests, those of Lists one by one. */
export function documentsOf(text: string): Unstructured[] {
  return parseYamlDocuments(text).flatMap((document) => {
    const object = document as Unstructured & { items?: Unstructured[] };
    return object.kind === "List" && Array.isArray(object.items) ? object.items : [object];
  });
}

/** Joins objects to manifests, as clusterctl does. */
export function joinYaml(objects: readonly Unstructured[]): string {
  return objects.map((object) => toGoYaml(object)).join("---\n");
}
