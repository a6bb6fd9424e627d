import { placedObject } from "../identity.ts";
import type { OwnedScope } from "../scope.ts";
import { Outcome } from "./outcome.ts";

/** Stops a control plane whose `spec.replicas` is 0 and keeps its data. */
export async function hibernate(scope: OwnedScope): Promise<Outcome | undefined> {
  const { object, owner, placement } = scope;
  if (object.spec.replicas !== 0) return undefined;
  const state = await placement.hibernate(owner, placedObject(object));
  return new Outcome(
    scope,
    state.problem === undefined ? { step: "hibernated", state } : { step: "waiting", ...state.problem },
  );
}
