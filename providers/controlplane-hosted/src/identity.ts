import type { OwnerReference } from "@capstan/apimachinery";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";

/** What names an object, for applying parts of it. */
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

/** Makes what refers so go when the control plane goes. */
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
