import { findCondition, type Unstructured } from "@capstan/apimachinery";
import {
  Cluster,
  conditionsOf,
  GlobalInClusterIPPool,
  GlobalInClusterPrefixPool,
  InClusterIPPool,
  InClusterPrefixPool,
  IPAddress,
  IPAddressClaim,
} from "@capstan/capi";
import { addIpamIndexes, ipamControllers } from "../ipam/ipam.controllers.ts";
import { NAMESPACE } from "./objects.ts";
import { Plane } from "./plane.ts";

const planes: Plane[] = [];

/** Ends what the tests of a file started. */
export async function closePlanes(): Promise<void> {
  for (const plane of planes.splice(0)) await plane.close();
}

const KINDS = [
  Cluster,
  IPAddress,
  IPAddressClaim,
  InClusterIPPool,
  GlobalInClusterIPPool,
  InClusterPrefixPool,
  GlobalInClusterPrefixPool,
];

/** A plane with the controllers of in-cluster IPAM alone; with the rules and conversions of its kinds if wanted. */
export async function startIpam({ rules = false } = {}): Promise<Plane> {
  const plane = await Plane.start({
    crds: KINDS.map((kind) => kind.crd()),
    ruled: rules ? KINDS : [],
    indexes: addIpamIndexes,
    controllers: () => ipamControllers(),
  });
  planes.push(plane);
  return plane;
}

/** A pool of any kind. */
export function pool(
  name: string,
  spec: object,
  kind: { kind: string; apiVersion: string; namespaced: boolean } = InClusterIPPool,
): Unstructured {
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: { name, ...(kind.namespaced ? { namespace: NAMESPACE } : {}) },
    spec,
  };
}

/** A claim on a pool. */
export function claim(
  name: string,
  poolName = "p",
  over: { kind?: string; namespace?: string; spec?: object } = {},
): Unstructured {
  return {
    apiVersion: IPAddressClaim.apiVersion,
    kind: IPAddressClaim.kind,
    metadata: { namespace: over.namespace ?? NAMESPACE, name },
    spec: {
      poolRef: { apiGroup: "ipam.cluster.x-k8s.io", kind: over.kind ?? "InClusterIPPool", name: poolName },
      ...over.spec,
    },
  };
}

/** Names of claims and what they were given. */
export async function addressesOf(plane: Plane): Promise<Record<string, string>> {
  const { items } = await plane.user.list(IPAddress, {});
  return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name ?? "", spec.address]));
}

/** The Ready condition of a claim. */
export async function ready(plane: Plane, name: string) {
  const found = await plane.user.get(IPAddressClaim, { namespace: NAMESPACE, name });
  return findCondition(conditionsOf(found ?? {}), "Ready");
}
