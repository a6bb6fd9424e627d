import type { KubeObject } from "@capstan/apimachinery";

/** What the API server gives, and what counts writes, whose number depends on who is faster. */
const COUNTS = new Set(["managedFields", "resourceVersion", "uid", "generation", "observedGeneration"]);

/** Returns an object as it counts at the end of a step: without what counts writes, and with fields and lists of objects sorted. */
export function finalState(object: KubeObject): unknown {
  return settled(object);
}

function settled(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(settled);
    return items.every((each) => typeof each === "object") ? items.sort(byText) : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !COUNTS.has(name));
  return Object.fromEntries(fields.sort(byText).map(([name, each]) => [name, settled(each)]));
}

function byText(a: unknown, b: unknown): number {
  return (JSON.stringify(a) ?? "") < (JSON.stringify(b) ?? "") ? -1 : 1;
}
