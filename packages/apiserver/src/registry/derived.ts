import { deepFreeze, type Unstructured } from "@capstan/apimachinery";
import type { ResourceRegistry, ResourceType } from "../types.ts";
import type { View } from "./views.ts";

const made = new WeakMap<ResourceType, { registry: ResourceRegistry; generation: number; views: readonly View[] }>();

/** Views of objects that are computed from the registry instead of stored (APIService); recomputed when the registry changes. */
export function derivedViews(type: ResourceType, registry: ResourceRegistry, revision: number): readonly View[] {
  const known = made.get(type);
  const generation = registry.generation();
  if (known?.registry === registry && known.generation === generation) return known.views;
  const views = (type.derived?.(registry) ?? []).map((object) => viewOfDerived(object, revision));
  made.set(type, { registry, generation, views });
  return views;
}

function viewOfDerived(object: Unstructured, revision: number): View {
  const whole = deepFreeze({
    ...object,
    metadata: { resourceVersion: String(Math.max(1, revision)), ...object.metadata },
  });
  return { object: whole, bytes: Buffer.from(JSON.stringify(whole)) };
}
