import { createHash } from "node:crypto";
import { deepFreeze, type Unstructured } from "@capstan/apimachinery";

/** What a copy has of its own; all the rest it shares with the object it was copied from. */
export interface Stamp {
  readonly uid: string;
  /** When it was created, RFC 3339. */
  readonly time: string;
}

/** An object that many servers store copies of. */
export interface Template {
  /** Name of its content: the same in every process. */
  readonly id: string;
  readonly bytes: Buffer;
  readonly object: Unstructured;
}

const ID_BYTES = 16;
const copies = new WeakMap<Unstructured, { source: Unstructured; stamp: Stamp }>();
const templates = new WeakMap<Unstructured, Template>();

/** A copy of `source` that differs in its uid and its times; a store may ask where it comes from. */
export function copyOf(source: Unstructured, stamp: Stamp): Unstructured {
  const copy = stamped(source, stamp);
  copies.set(copy, { source, stamp });
  return copy;
}

/** The same without a note of where it comes from. */
export function stamped(source: Unstructured, stamp: Stamp): Unstructured {
  const { managedFields = [] } = source.metadata;
  return {
    ...source,
    metadata: {
      ...source.metadata,
      uid: stamp.uid,
      creationTimestamp: stamp.time,
      managedFields: managedFields.map((entry) => ({ ...entry, time: stamp.time })),
    },
  };
}

/** What an object was copied from and with what, if copyOf() made it. */
export function originOf(object: Unstructured): { template: Template; stamp: Stamp } | undefined {
  const origin = copies.get(object);
  return origin === undefined ? undefined : { template: templateOf(origin.source), stamp: origin.stamp };
}

/** Forgets the origin of a copy once it is recorded. */
export function forgetOrigin(object: Unstructured): void {
  copies.delete(object);
}

/** The template in bytes that were kept; undefined when they were not written by this version. */
export function readTemplate(id: string, bytes: Buffer): Template | undefined {
  if (idOf(bytes) !== id) return undefined;
  const object = deepFreeze(JSON.parse(bytes.toString()) as Unstructured);
  const template = { id, bytes, object };
  templates.set(object, template);
  return template;
}

function templateOf(source: Unstructured): Template {
  let template = templates.get(source);
  if (template === undefined) {
    // Whatever a copy has of its own is left empty, and stays where it is: copies of both have the same bytes.
    const bare = stamped({ ...source, metadata: { ...source.metadata, resourceVersion: "" } }, { uid: "", time: "" });
    const bytes = Buffer.from(JSON.stringify(bare));
    template = { id: idOf(bytes), bytes, object: source };
    templates.set(source, template);
  }
  return template;
}

function idOf(bytes: Buffer): string {
  return createHash("sha256")
    .update(bytes)
    .digest("hex")
    .slice(0, 2 * ID_BYTES);
}
