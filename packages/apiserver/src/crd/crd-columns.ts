import { isObject, type Unstructured } from "@capstan/apimachinery";
import { CREATED_AT, column, NAME, wide } from "../builtin/columns.ts";
import { at, list, text } from "../builtin/read.ts";
import type { PrinterColumn } from "../types.ts";

/** What `kubectl get crds` prints. */
export const CRD_COLUMNS: readonly PrinterColumn[] = [
  NAME,
  column("Scope", (crd) => text(at(crd, "spec", "scope"))),
  column("Versions", servedVersions),
  CREATED_AT,
  wide("Group", (crd) => text(at(crd, "spec", "group"))),
  wide("Kind", (crd) => text(at(crd, "spec", "names", "kind"))),
  wide("ShortNames", (crd) =>
    list(at(crd, "spec", "names", "shortNames"))
      .map(text)
      .join(","),
  ),
  { name: "Established", type: "boolean", priority: 1, value: isEstablished },
];

function servedVersions(crd: Unstructured): string {
  return list(at(crd, "spec", "versions"))
    .filter((version) => at(version, "served") === true)
    .map((version) => `${text(at(version, "name"))}${at(version, "storage") === true ? "(storage)" : ""}`)
    .sort()
    .join(",");
}

function isEstablished(crd: Unstructured): boolean {
  return list(at(crd, "status", "conditions")).some(
    (condition) => isObject(condition) && condition["type"] === "Established" && condition["status"] === "True",
  );
}
