import { createHash } from "node:crypto";
import { stableStringify } from "@capstan/apimachinery";
import { generateName } from "../shared/name-template.ts";

/** A short text that stands for some content. */
export function digestOf(...content: unknown[]): string {
  return createHash("sha256").update(stableStringify(content)).digest("hex");
}

/**
 * A name from a naming template. What upstream draws by chance is derived from the cluster and the part's role here: a manager
 * that is killed between creating an object and noting its name finds the same object again.
 */
export function derivedName(template: string, values: Record<string, unknown>, ...seed: unknown[]): string {
  const bytes = createHash("sha256").update(stableStringify(seed)).digest();
  let next = 0;
  const random = {
    bytes: (n: number) => Uint8Array.from({ length: n }, () => bytes[next++ % bytes.length] ?? 0),
  };
  return generateName(template, values, random);
}
