import type { KubeObject } from "@capstan/apimachinery";
import { ensureFinalizer, type ReconcileContext, releaseFinalizer } from "@capstan/runtime";

/** The finalizer of an infrastructure kind, e.g. `memorymachine.infrastructure.cluster.x-k8s.io`. */
export function finalizerOf(kind: { kind: string; group: string }): string {
  return `${kind.kind.toLowerCase()}.${kind.group}`;
}

/** Holds an object until what it stands for outside is gone. */
export function hold<T extends KubeObject>(
  object: T,
  kind: { kind: string; group: string },
  context: ReconcileContext,
): Promise<T> {
  return ensureFinalizer(context.client, object, finalizerOf(kind), context.signal);
}

/** Lets an object go. */
export async function letGo<T extends KubeObject>(
  object: T,
  kind: { kind: string; group: string },
  context: ReconcileContext,
): Promise<void> {
  await releaseFinalizer(context.client, object, finalizerOf(kind), context.signal);
}
