import type { Machine } from "../kinds/machine.ts";

/** Returns the annotations of a Machine that are hooks of this prefix, sorted; its deletion waits until they are removed. */
export function deletionHooks({ metadata }: Machine, prefix: string): string[] {
  return Object.keys(metadata.annotations ?? {})
    .filter((key) => key === prefix || key.startsWith(`${prefix}/`) || key.startsWith(`${prefix}.`))
    .sort();
}
