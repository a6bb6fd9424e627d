import { compileJsonPath, isObject } from "@capstan/apimachinery";
import { usageError } from "../command.ts";
import { renderTable } from "./table.ts";

/** Compiles kubectl's custom columns, such as `NAME:.metadata.name,PHASE:.status.phase`, to a printer. */
export function customColumns(specification: string): (value: unknown) => string {
  const columns = specification.split(",").map((part) => {
    const at = part.indexOf(":");
    if (at <= 0 || at === part.length - 1)
      throw usageError(`custom column ${JSON.stringify(part)} is not HEADER:PATH`, "e.g. NAME:.metadata.name");
    const path = part.slice(at + 1).replace(/^\{(.*)\}$/, "$1");
    return { header: part.slice(0, at), path: compileJsonPath(path.startsWith(".") ? path : `.${path}`) };
  });
  return (value) => {
    const rows = itemsOf(value).map((item) =>
      columns.map(({ path }) => {
        const found = path.find(item);
        return found.length === 0 ? "<none>" : found.map(textOf).join(",");
      }),
    );
    const headers = columns.map(({ header }) => header);
    return `${renderTable(headers, rows)}\n`;
  };
}

/** Returns the items of a list, or the single object. */
export function itemsOf(value: unknown): unknown[] {
  return isObject(value) && Array.isArray(value["items"]) ? value["items"] : [value];
}

/** Formats a value as Go's printer does: strings as they are, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
