import { formatDuration } from "@capstan/apimachinery";

/** Go's `omitempty`: leaves out what is undefined, empty text, zero, false, and empty lists and maps. */
export function compact(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  return Array.isArray(value) && value.length === 0;
}

/** Seconds as Go prints a duration; undefined stays undefined. */
export function secondsText(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : formatDuration(seconds * 1000);
}

type Arg = { name: string; value: string };

/** v1beta4 has a list of arguments, v1beta3 a map. */
export function argsFor(api: "v1beta3" | "v1beta4", args: readonly Arg[] | undefined): unknown {
  if (args === undefined || args.length === 0) return undefined;
  return api === "v1beta4"
    ? args.map(({ name, value }) => ({ name, value }))
    : Object.fromEntries(args.map(({ name, value }) => [name, value]));
}
