import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import type { PlacedObject } from "./placement/placement.ts";

/** Returns the apiVersion, kind and name of an object, for applying parts of it. */
export function identity(object: HostedControlPlane): {
  apiVersion: string;
  kind: string;
  metadata: { namespace?: string; name?: string };
} {
  const { namespace, name } = object.metadata;
  return {
    apiVersion: HostedControlPlane.apiVersion,
    kind: HostedControlPlane.kind,
    metadata: { namespace, name },
  };
}

/** Returns what a placement needs to stop or remove a control plane. */
export function placedObject(object: HostedControlPlane): PlacedObject {
  const { uid, deletionTimestamp } = object.metadata;
  return {
    spec: object.spec,
    objectUid: uid,
    ...(deletionTimestamp === undefined ? {} : { deletingSinceMs: Date.parse(deletionTimestamp) }),
  };
}
