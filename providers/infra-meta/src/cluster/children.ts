import { controllerOf } from "@capstan/apimachinery";
import {
  type ContractObject,
  endpointOf,
  type FailureDomain,
  failureDomainsOf,
  field,
  infrastructureProvisioned,
  ownerClusterName,
  watchKind,
} from "@capstan/capi";
import type { Kind, MapFunction, ReconcileContext } from "@capstan/runtime";
import type { InfrastructureReference, MetaCluster } from "../kinds/meta-cluster.ts";

/** The observed state of an infrastructure cluster that a MetaCluster lists. */
export interface Child {
  reference: InfrastructureReference;
  /** Why it cannot be used, if so. */
  problem?: { reason: string; message: string };
  kind?: Kind<ContractObject>;
  object?: ContractObject;
  provisioned: boolean;
  endpoint?: { host: string; port: number };
  /** Whether its kind has an endpoint field. */
  takesEndpoint: boolean;
}

/** Reads every child and starts watches of their kinds. */
export function readChildren(
  meta: MetaCluster,
  context: ReconcileContext,
  map: (reference: InfrastructureReference) => MapFunction<ContractObject>,
): Promise<Child[]> {
  return Promise.all(
    meta.spec.infrastructureRefs.map((reference) => readChild(meta, reference, context, map(reference))),
  );
}

async function readChild(
  meta: MetaCluster,
  reference: InfrastructureReference,
  context: ReconcileContext,
  map: MapFunction<ContractObject>,
): Promise<Child> {
  const resolved = await watchKind(context, reference, map);
  if ("problem" in resolved)
    return {
      reference,
      provisioned: false,
      takesEndpoint: false,
      problem: { reason: "ProviderNotInstalled", message: resolved.problem },
    };
  const object = context.cache.get(resolved.kind, { namespace: meta.metadata.namespace, name: reference.name });
  const takesEndpoint = hasEndpointField(
    resolved.crd.spec.versions.find((v) => v.name === resolved.kind.version)?.schema?.openAPIV3Schema,
  );
  if (object === undefined)
    return {
      reference,
      kind: resolved.kind,
      provisioned: false,
      takesEndpoint,
      problem: {
        reason: "ObjectDoesNotExist",
        message: `${reference.kind} ${reference.name} does not exist; create it`,
      },
    };
  const other = otherOwner(object, meta);
  if (other !== undefined)
    return {
      reference,
      kind: resolved.kind,
      provisioned: false,
      takesEndpoint,
      problem: {
        reason: "OwnedByAnother",
        message: `${reference.kind} ${reference.name} belongs to ${other} and is not adopted: refer to another one, or remove it there`,
      },
    };
  const endpoint = endpointOf(object);
  return {
    reference,
    kind: resolved.kind,
    object,
    provisioned: infrastructureProvisioned(object, resolved.contract),
    endpoint,
    takesEndpoint,
  };
}

/** Who else an infrastructure cluster belongs to: it must be neither given another endpoint nor deleted with this MetaCluster. */
function otherOwner(object: ContractObject, meta: MetaCluster): string | undefined {
  const controller = controllerOf(object);
  if (controller !== undefined && controller.uid !== meta.metadata.uid) return `${controller.kind} ${controller.name}`;
  const [theirs, ours] = [ownerClusterName(object), ownerClusterName(meta)];
  return theirs !== undefined && ours !== undefined && theirs !== ours ? `Cluster ${theirs}` : undefined;
}

function hasEndpointField(schema: unknown): boolean {
  return field(schema, "properties", "spec", "properties", "controlPlaneEndpoint") !== undefined;
}

/** Merges the failure domains of all children under their original names, and returns the names that occur more than once. */
export function unionOfFailureDomains(children: readonly Child[]): { domains: FailureDomain[]; clashes: string[] } {
  const domains = new Map<string, FailureDomain>();
  const clashes = new Set<string>();
  for (const child of children) {
    if (child.object === undefined) continue;
    for (const domain of failureDomainsOf(child.object)) {
      if (domains.has(domain.name)) {
        clashes.add(domain.name);
        continue;
      }
      domains.set(domain.name, {
        name: domain.name,
        // Only the marked child may have control plane machines.
        controlPlane: child.reference.controlPlane === true && domain.controlPlane === true,
        attributes: {
          ...domain.attributes,
          "capstan.dev/infrastructure": `${child.reference.kind}/${child.reference.name}`,
        },
      });
    }
  }
  return { domains: [...domains.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), clashes: [...clashes].sort() };
}
