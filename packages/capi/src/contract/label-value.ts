import { isLabelValue } from "@capstan/apimachinery";

/** Computes the 32-bit FNV-1a hash, which Cluster API uses for names and templates. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, "utf8")) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash >>> 0;
}

/** Returns a name as a label value: unchanged, or `hash_…_z` if it is too long, like upstream. */
export function labelValue(name: string): string {
  if (isLabelValue(name).length === 0) return name;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(fnv32a(name));
  return `hash_${bytes.toString("base64url")}_z`;
}
