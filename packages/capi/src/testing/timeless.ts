import { isObject } from "@capstan/apimachinery";

const CHANGING = [
  "resourceVersion",
  "uid",
  "creationTimestamp",
  "managedFields",
  "lastTransitionTime",
  "generation",
  "observedGeneration",
];

/** Returns a value without the fields that differ between two runs of the same story, at any depth; `more` names further ones. */
export function timeless(value: unknown, more: readonly string[] = []): unknown {
  const changing = new Set([...CHANGING, ...more]);
  const strip = (inner: unknown): unknown => {
    if (Array.isArray(inner)) return inner.map(strip);
    if (!isObject(inner)) return inner;
    const kept = Object.entries(inner).filter(([name]) => !changing.has(name));
    return Object.fromEntries(kept.map(([name, field]) => [name, strip(field)]));
  };
  return strip(value);
}
