import { createHash } from "node:crypto";
import { labelValue } from "@capstan/capi";
import { HOSTED_LABEL, OWNER_ANNOTATION } from "@capstan/workloads";

/** Identifies an object of the management cluster. */
export interface Key {
  readonly namespace: string;
  readonly name: string;
}

/** Kinds whose objects own something in the outer cluster. */
export type OwnerKind = "kubernetesmachine" | "kubernetescluster";

/** Returns namespace and name of an object. */
export function keyOf({ metadata }: { metadata: { namespace?: string; name?: string } }): Key {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

/** Returns the owner of objects in the outer cluster: with three parts, so that it is never one of a control plane. */
export function ownerOf(kind: OwnerKind, { namespace, name }: Key): string {
  return `${namespace}/${kind}/${name}`;
}

/** Returns which object an owner is; undefined for owners of other providers. */
export function objectOf(kind: OwnerKind, owner: string): Key | undefined {
  const [namespace, ownKind, name, ...rest] = owner.split("/");
  if (namespace === undefined || name === undefined || ownKind !== kind || rest.length > 0) return undefined;
  return { namespace, name };
}

/** Returns the Node's provider ID: the UID is not in it, so that a pod that is created again has the same. */
export function providerIdOf({ namespace, name }: Key): string {
  return `kubernetes://${namespace}/${name}`;
}

/** Returns the metadata of an object in the outer cluster. */
export function ownMetadata(owner: string, name: string, more: { labels?: object; annotations?: object } = {}) {
  const [namespace = "", , of = ""] = owner.split("/");
  return {
    namespace,
    name,
    labels: {
      ...more.labels,
      [HOSTED_LABEL]: labelValue(of),
      "app.kubernetes.io/managed-by": "capstan",
    },
    annotations: { ...more.annotations, [OWNER_ANNOTATION]: owner },
  };
}

/** Returns a text's SHA-256 in hexadecimal digits. */
export function hexOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns the Secret with the scripts of a machine, which are no secrets. */
export function scriptsName(machine: string): string {
  return `${machine}-node-scripts`;
}

/** Returns the Secret with the compiled bootstrap data of a machine. */
export function bootstrapName(machine: string): string {
  return `${machine}-node-bootstrap`;
}
