import { createHash } from "node:crypto";
import { stableStringify } from "@capstan/apimachinery";
import { generateName } from "@capstan/capi";

/** Returns a digest of some content. */
export function digestOf(...content: unknown[]): string {
  return createHash("sha256").update(stableStringify(content)).digest("hex");
}

/**
 * Renders a name from a naming template. The part that is random upstream is derived from the seed, so that a manager that crashes before
 * it records the name finds the same object again.
 */
export function derivedName(template: string, values: Record<string, unknown>, ...seed: unknown[]): string {
  const bytes = createHash("sha256").update(stableStringify(seed)).digest();
  let next = 0;
  const random = {
    bytes: (n: number) => Uint8Array.from({ length: n }, () => bytes[next++ % bytes.length] ?? 0),
  };
  return generateName(template, values, random);
}
