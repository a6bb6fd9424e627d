import { parseQuantity, quantityValue } from "@capstan/apimachinery";
import { string } from "@capstan/capi";

/** Sizes as quantities have them, and with the B that older templates write: 8GB is 8G. */
const PATTERN = "^[0-9]+(\\.[0-9]+)?([KMGT]i|[kKMGT]|[KMGT]i?B)?$";

/** Returns the schema of a size such as 8Gi or 8GB. */
export const size = (doc: string) => string({ doc, pattern: PATTERN, maxLength: 24 });

/** Returns a size in bytes; undefined for what is no size. */
export function bytesOf(text: string): number | undefined {
  if (!new RegExp(PATTERN).test(text)) return undefined;
  const quantity = parseQuantity(text.replace(/B$/, "").replace(/K$/, "k"));
  const value = quantity === undefined ? Number.NaN : quantityValue(quantity);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** Returns a size in whole MiB, rounded up; undefined for what is no size. */
export function mibOf(text: string): number | undefined {
  const bytes = bytesOf(text);
  return bytes === undefined ? undefined : Math.ceil(bytes / 2 ** 20);
}
