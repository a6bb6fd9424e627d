import { createHash } from "node:crypto";
import type { JSONSchemaProps } from "@capstan/apimachinery";

/** A schema is not changed any more once it is judged, and is stored as it was judged. */
const hashes = new WeakMap<JSONSchemaProps, string>();

/** The hash of a schema's text: many servers of a process have the same kinds. */
export function schemaHash(schema: JSONSchemaProps): string {
  let hash = hashes.get(schema);
  if (hash === undefined) {
    hash = createHash("sha256").update(JSON.stringify(schema)).digest("base64");
    hashes.set(schema, hash);
  }
  return hash;
}
