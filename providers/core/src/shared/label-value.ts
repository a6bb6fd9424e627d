import { isLabelValue } from "@capstan/apimachinery";

/** 32-bit FNV-1a, the hash Cluster API uses for names and templates. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, "utf8")) {
    hash ^= byte;
    hash = Math.imul(hash, 0x01000193) >>> 0;
  }
  return hash >>> 0;
}

/** A name as a label value: itself, or `hash_…_z` when it is too long for one, as upstream writes it. */
export function labelValue(name: string): string {
  if (isLabelValue(name).length === 0) return name;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(fnv32a(name));
  return `hash_${bytes.toString("base64url")}_z`;
}
