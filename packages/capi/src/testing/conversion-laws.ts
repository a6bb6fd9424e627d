import { compileSchema, deepCopy, deepEqual, isObject, type Unstructured } from "@capstan/apimachinery";
import fc from "fast-check";
import type { KindVersion } from "../schema/kind.ts";
import { arbitraryObjectOf } from "./arbitrary.ts";

/** A law of one kind, for any test runner. */
export interface ConversionCase {
  name: string;
  run(): void;
}

const RUNS = { numRuns: 30 };

/** What holds for a kind that is served in an older version too: nothing is lost on the way there and back, nothing is unknown there. */
export function conversionCases(definition: {
  group: string;
  kind: string;
  versions: readonly KindVersion[];
}): ConversionCase[] {
  const { group, kind, versions } = definition;
  const [stored, old] = versions;
  if (stored === undefined || old?.convert === undefined) throw new Error(`${kind} is not served in an older version`);
  const toStored = (object: object): Unstructured => converted(old.convert?.toStored, object);
  const fromStored = (object: object): Unstructured => converted(old.convert?.fromStored, object);
  const storedObjects = arbitraryObjectOf(`${group}/${stored.name}`, kind, stored.schema.json);
  const oldObjects = arbitraryObjectOf(`${group}/${old.name}`, kind, old.schema.json);
  const unknownTo = (version: KindVersion, object: Unstructured): readonly string[] =>
    compileSchema({ ...version.schema.json, type: "object" }).prune(object, { root: true });
  return [
    {
      name: `${kind} comes back from ${old.name} as it was`,
      run: () =>
        fc.assert(
          fc.property(storedObjects, (object) => deepEqual(toStored(fromStored(object)), object)),
          RUNS,
        ),
    },
    {
      name: `${kind} comes back from ${stored.name} with all it had, and the same ever after`,
      run: () =>
        fc.assert(
          fc.property(oldObjects, (object) => {
            const back = fromStored(toStored(object));
            return contains(back, object) && deepEqual(fromStored(toStored(back)), back);
          }),
          RUNS,
        ),
    },
    {
      name: `${kind} has no field that the other version's schema does not know`,
      run: () =>
        fc.assert(
          fc.property(storedObjects, oldObjects, (hub, spoke) => {
            const unknown = [...unknownTo(stored, toStored(spoke)), ...unknownTo(old, fromStored(hub))];
            if (unknown.length > 0) throw new Error(`unknown fields: ${unknown.join(", ")}`);
          }),
          RUNS,
        ),
    },
  ];
}

function converted(convert: ((object: Unstructured) => Unstructured) | undefined, object: object): Unstructured {
  return convert?.(deepCopy(object) as Unstructured) ?? (object as Unstructured);
}

/** Whether all that `part` says stands in `whole`; conversion may add what the other version says by default. */
function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && whole.length === part.length && part.every((item, i) => contains(whole[i], item));
  }
  if (!isObject(part)) return deepEqual(whole, part);
  return isObject(whole) && Object.entries(part).every(([key, value]) => contains(whole[key], value));
}
