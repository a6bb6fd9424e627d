import { controllerOf, type KubeObject, type OwnerReference } from "@capstan/apimachinery";
import { createIfAbsent, type Kind, type ReconcileContext } from "@capstan/runtime";

/**
 * Creates or applies an object that names its controller in ownerReferences. An object of that name with another controller is left
 * unchanged, and its controller is returned. `isOurs` says which controllers count as the same one; by default that with the same uid.
 */
export async function ensureOwned<T extends KubeObject>(
  context: ReconcileContext,
  kind: Kind<T>,
  desired: T,
  isOurs: (controller: OwnerReference) => boolean = ({ uid }) => uid === controllerOf(desired)?.uid,
): Promise<OwnerReference | undefined> {
  const key = { namespace: desired.metadata.namespace, name: desired.metadata.name ?? "" };
  let existing = context.cache.get(kind, key);
  if (existing === undefined) {
    if (await createIfAbsent(context.client, desired, {}, context.signal)) return undefined;
    existing = await context.client.get(kind, key, context.signal);
  }
  const controller = existing === undefined ? undefined : controllerOf(existing);
  if (controller !== undefined && !isOurs(controller)) return controller;
  await context.client.ensure(desired, existing, {}, context.signal);
  return undefined;
}
