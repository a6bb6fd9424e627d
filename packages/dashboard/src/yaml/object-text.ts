import { toYaml, type Unstructured } from "@capstan/apimachinery";

/** What the server keeps for itself; it is of no use to somebody who edits. */
const HIDDEN = ["managedFields", "selfLink"];

/** An object as people read and edit it. */
export function objectText(object: Unstructured): string {
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([key]) => !HIDDEN.includes(key)));
  return toYaml(inReadingOrder({ ...object, metadata }));
}

/** The part of an object that a write is about: what the server counts and stamps would only hide the change. */
export function comparableText(object: Unstructured): string {
  const { resourceVersion: _, generation: __, managedFields: ___, ...metadata } = object.metadata;
  const { status: ____, ...rest } = object;
  return toYaml(inReadingOrder({ ...rest, metadata }));
}

/** What one may change comes before what controllers report, whatever order the API keeps. */
function inReadingOrder(object: Unstructured): Unstructured {
  const { apiVersion, kind, metadata, status, ...rest } = object;
  return { apiVersion, kind, metadata, ...rest, ...(status === undefined ? {} : { status }) };
}
