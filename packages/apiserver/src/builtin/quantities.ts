import { formatQuantity, isObject, parseQuantity } from "@capstan/apimachinery";

/** Rewrites the quantities of a resource list in the form the real server stores: `0.5` becomes `500m`. In place. */
export function canonicalQuantities(resources: unknown): void {
  if (!isObject(resources)) return;
  for (const [name, value] of Object.entries(resources)) {
    if (typeof value !== "string" && typeof value !== "number") continue;
    try {
      resources[name] = formatQuantity(parseQuantity(String(value)));
    } catch {
      // Malformed quantities are left for validation to name.
    }
  }
}
