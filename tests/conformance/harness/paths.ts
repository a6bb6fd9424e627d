/** The value at `a.b.0.c`, or undefined; a dot inside a name is written `\.`. */
export function at(value: unknown, path: string): unknown {
  let current = value;
  for (const key of path.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", "."))) {
    if (current === null || typeof current !== "object") return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** A copy without the values at the given paths; `*` stands for every key or index. */
export function without(value: unknown, paths: readonly string[]): unknown {
  const copy: unknown = structuredClone(value);
  for (const path of paths)
    remove(
      copy,
      path.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", ".")),
    );
  return copy;
}

function remove(value: unknown, path: readonly string[]): void {
  if (value === null || typeof value !== "object") return;
  const [first = "", ...rest] = path;
  const holder = value as Record<string, unknown>;
  for (const key of first === "*" ? Object.keys(holder) : [first])
    if (rest.length === 0) delete holder[key];
    else remove(holder[key], rest);
}
