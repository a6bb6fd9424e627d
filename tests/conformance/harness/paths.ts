/** The value at `a.b.0.c`, or undefined; a dot inside a name is written `\.`. */
export function at(value: unknown, path: string): unknown {
  let current = value;
  for (const key of path.split(/(?<!\\)\./).map((part) => part.replaceAll("\\.", "."))) {
    if (current === null || typeof current !== "object") return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

/** A copy without the values at the given paths; `*` stands for every key or index, `**` for any number of them. */
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
  if (first === "**") {
    remove(holder, rest);
    for (const child of Object.values(holder)) remove(child, path);
    return;
  }
  for (const key of first === "*" ? Object.keys(holder) : [first])
    if (rest.length === 0) delete holder[key];
    else remove(holder[key], rest);
}

/** Both values with the lists at `path` reduced to the entries whose name the other has too. */
export function inCommon(ours: unknown, real: unknown, path: string): [unknown, unknown] {
  const [left, right] = [structuredClone(ours), structuredClone(real)];
  const [mine, theirs] = [at(left, path), at(right, path)] as unknown[][];
  if (!Array.isArray(mine) || !Array.isArray(theirs)) return [left, right];
  const both = new Set(mine.map(nameOf).filter((name) => theirs.some((entry) => nameOf(entry) === name)));
  for (const list of [mine, theirs]) list.splice(0, list.length, ...list.filter((entry) => both.has(nameOf(entry))));
  return [left, right];
}

function nameOf(entry: unknown): unknown {
  return at(entry, "name") ?? at(entry, "resource");
}
