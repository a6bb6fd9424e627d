import type { VariableValues } from "@capstan/capi";

/** Returns the value at a path such as `nodes[0].name`; throws if there is none. */
export function variableAt(values: VariableValues, path: string): unknown {
  let current: unknown = values;
  for (const segment of path.split(".")) {
    const match = /^([^[\]]*)((?:\[\d+\])*)$/.exec(segment);
    if (match === null) throw new Error(`invalid path of a variable: ${path}`);
    const [, name = "", indexes = ""] = match;
    if (name !== "") {
      if (typeof current !== "object" || current === null || !Object.hasOwn(current, name))
        throw new Error(`variable ${path} has no value`);
      current = (current as Record<string, unknown>)[name];
    }
    for (const [, index] of indexes.matchAll(/\[(\d+)\]/g)) {
      if (!Array.isArray(current) || Number(index) >= current.length) throw new Error(`variable ${path} has no value`);
      current = current[Number(index)];
    }
  }
  return current;
}
