import type { OwnerReference } from "@capstan/apimachinery";
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
    metadata: { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) },
  };
}

/** Returns what a placement needs to stop or remove a control plane. */
export function placedObject(object: HostedControlPlane): PlacedObject {
  const { uid, deletionTimestamp } = object.metadata;
  return {
    spec: object.spec,
    ...(uid === undefined ? {} : { objectUid: uid }),
    ...(deletionTimestamp === undefined ? {} : { deletingSinceMs: Date.parse(deletionTimestamp) }),
  };
}

/** Returns the owner reference with which objects are garbage collected with the control plane. */
export function controllerReference(object: HostedControlPlane): OwnerReference {
  return {
    apiVersion: HostedControlPlane.apiVersion,
    kind: HostedControlPlane.kind,
    name: object.metadata.name ?? "",
    uid: object.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}
