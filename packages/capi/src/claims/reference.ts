import { isObject, type KubeObject } from "@capstan/apimachinery";
import { CLUSTER_NAME_LABEL } from "../contract/constants.ts";
import { field } from "../contract/fields.ts";
import { type NamedReference, type ReferenceTarget, resolveReference } from "../references/resolve.ts";

/** The reference in a host's spec that says which machine has claimed it. */
export interface ClaimReference extends NamedReference {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly uid?: string | undefined;
}

/** Returns the part of a reference by which a machine recognizes its claims; undefined if the reference has no such part. */
export type ClaimIdentity = (reference: ClaimReference) => string | undefined;

/** Recognizes claims by the UID of the machine. */
export const byUID: ClaimIdentity = ({ uid }) => uid;

/** Recognizes claims by kind and name, which a move to another management cluster keeps. */
export const byKindAndName: ClaimIdentity = ({ kind, name }) =>
  kind === undefined || name === undefined ? undefined : `${kind}/${name}`;

/** Returns the reference that a claim of this object writes. */
export function referenceTo({ apiVersion, kind, metadata }: KubeObject): ClaimReference {
  const { namespace = "", name = "", uid = "" } = metadata;
  return { apiVersion, kind, namespace, name, uid };
}

/**
 * Returns the claim on a host; undefined if there is none. A claim counts in the host's own namespace only: who may write a host must not
 * speak for the machines of other namespaces.
 */
export function claimOn(host: KubeObject, claimField: string): (ClaimReference & ReferenceTarget) | undefined {
  const reference = field(host, "spec", claimField);
  if (!isObject(reference)) return undefined;
  const target = resolveReference(host, reference as NamedReference, `spec.${claimField}`);
  return "problem" in target ? undefined : { ...(reference as ClaimReference), ...target };
}

/** Returns the host as claimed by a machine, with the label of the machine's cluster. */
export function claimedBy<H extends KubeObject>(
  host: H,
  claimField: string,
  machine: KubeObject,
  cluster: string | undefined,
): H {
  const spec = { ...(host as { spec?: object }).spec, [claimField]: referenceTo(machine) };
  return { ...withCluster(host, cluster), spec };
}

/** Returns the host without a claim and without the label of a cluster. */
export function unclaimed<H extends KubeObject>(host: H, claimField: string): H {
  const { [claimField]: _, ...spec } = (host as { spec?: Record<string, unknown> }).spec ?? {};
  return { ...withCluster(host, undefined), spec };
}

function withCluster<H extends KubeObject>(host: H, cluster: string | undefined): H {
  const { [CLUSTER_NAME_LABEL]: _, ...labels } = host.metadata.labels ?? {};
  const next = cluster === undefined ? labels : { ...labels, [CLUSTER_NAME_LABEL]: cluster };
  return { ...host, metadata: { ...host.metadata, labels: next } };
}
