import { formatDuration } from "@capstan/apimachinery";

/** Omits undefined, empty strings, zero, false, and empty lists and maps, like Go's `omitempty`. */
export function compact(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  return Array.isArray(value) && value.length === 0;
}

/** Formats seconds as a Go duration; undefined stays undefined. */
export function secondsText(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : formatDuration(seconds * 1000);
}

type Arg = { name: string; value: string };

/** Converts component arguments to the API version's form: a list in v1beta4, a map in v1beta3. */
export function argsFor(api: "v1beta3" | "v1beta4", args: readonly Arg[] | undefined): unknown {
  if (args === undefined || args.length === 0) return undefined;
  return api === "v1beta4"
    ? args.map(({ name, value }) => ({ name, value }))
    : Object.fromEntries(args.map(({ name, value }) => [name, value]));
}
