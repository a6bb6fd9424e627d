import { createHash } from "node:crypto";
import { type Clock, isObject, type Unstructured } from "@capstan/apimachinery";
import { readForeignYamlDocuments } from "@capstan/apimachinery/foreign";

/** Order of kinds: those that others depend on come first, as in Cluster API. */
const FIRST = [
  "Namespace",
  "CustomResourceDefinition",
  "StorageClass",
  "PersistentVolume",
  "PersistentVolumeClaim",
  "Secret",
  "ConfigMap",
  "ServiceAccount",
  "LimitRange",
  "Pod",
  "ReplicaSet",
  "Endpoint",
];

/** As much as an object of Kubernetes holds. */
const MAX_BYTES = 3 * 1024 * 1024;

/** The decoded manifests of a Secret or ConfigMap, in the order of their keys. */
export interface Payload {
  readonly texts: readonly { key: string; text: string }[];
  /** Digest of the content. */
  readonly hash: string;
}

/** Decodes the data of a Secret (base64) or ConfigMap. */
export function payloadOf(object: { kind: string; data?: Record<string, string> | undefined }): Payload {
  const hash = createHash("sha256");
  const texts = Object.keys(object.data ?? {})
    .sort()
    .map((key) => {
      const value = object.data?.[key] ?? "";
      const bytes = Buffer.from(value, object.kind === "Secret" ? "base64" : "utf8");
      hash.update(bytes);
      return { key, text: bytes.toString("utf8") };
    });
  return { texts, hash: `sha256:${hash.digest("hex")}` };
}

/** Parses the objects of a payload in creation order, or returns the key that cannot be parsed and why. */
export async function objectsOf(
  payload: Payload,
  clock: Clock,
): Promise<{ objects: Unstructured[] } | { problem: string }> {
  const objects: Unstructured[] = [];
  for (const { key, text } of payload.texts) {
    let documents: unknown[];
    try {
      documents = await readForeignYamlDocuments(text, { clock, maxBytes: MAX_BYTES });
    } catch (error) {
      // The other lines of a parser's message quote the document, which may hold secrets.
      const [reason] = (error instanceof Error ? error.message : String(error)).split("\n");
      return { problem: `key ${key}: ${reason}` };
    }
    const found: Unstructured[] = [];
    for (const document of documents.flatMap(flatten)) {
      if (document === null || document === undefined) continue;
      if (!isManifest(document))
        return { problem: `key ${key}: every document must have apiVersion, kind and metadata.name` };
      found.push(document);
    }
    objects.push(...found.sort((a, b) => rank(a.kind) - rank(b.kind)));
  }
  return { objects };
}

/** A JSON list, or a List object, stands for its items. */
function flatten(document: unknown): unknown[] {
  if (Array.isArray(document)) return document.flatMap(flatten);
  if (isObject(document) && document["kind"] === "List" && Array.isArray(document["items"]))
    return document["items"].flatMap(flatten);
  return [document];
}

function isManifest(document: unknown): document is Unstructured {
  if (!isObject(document)) return false;
  const { apiVersion, kind, metadata } = document;
  return (
    typeof apiVersion === "string" &&
    typeof kind === "string" &&
    isObject(metadata) &&
    typeof metadata["name"] === "string" &&
    metadata["name"] !== ""
  );
}

function rank(kind: string): number {
  const index = FIRST.indexOf(kind);
  return index < 0 ? FIRST.length : index;
}
