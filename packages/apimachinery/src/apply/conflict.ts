import { applyConflict } from "../errors.ts";
import { goQuote } from "../go-text.ts";
import type { ApiError } from "../status.ts";
import { type FieldSet, printPaths } from "./field-set.ts";
import { identity, type Managed } from "./managed-fields.ts";

/** Further conflicts are left out of the message. */
const MAX_PRINTED = 1000;

/** The 409 of an apply that would change fields of others, with upstream's message. */
export function conflictError(conflicts: readonly { manager: Managed; set: FieldSet }[]): ApiError {
  const groups = conflicts
    .map(({ manager, set }) => ({ id: identity(manager), name: printManager(manager), paths: printPaths(set) }))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const causes = groups.flatMap(({ name, paths }) =>
    paths.map((field) => ({ reason: "FieldManagerConflict", message: `conflict with ${name}`, field })),
  );
  return applyConflict(causes.slice(0, MAX_PRINTED), message(groups, causes.length));
}

function message(groups: readonly { name: string; paths: string[] }[], count: number): string {
  const [first] = groups;
  if (count === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${first.name}: ${first.paths[0]}`;
  }
  const lines = groups
    .flatMap(({ name, paths }) => [`conflicts with ${name}:`, ...paths.map((p) => `- ${p}`)])
    .slice(0, MAX_PRINTED);
  return `Apply failed with ${count} conflicts: ${lines.join("\n")}`;
}

function printManager(m: Managed): string {
  const subresource = m.subresource === "" ? "" : ` with subresource ${goQuote(m.subresource)}`;
  const version = m.operation === "Update" ? ` using ${m.apiVersion}` : "";
  return `${goQuote(m.manager)}${subresource}${version}`;
}
