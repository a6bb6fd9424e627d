import { compareApiVersions } from "@capstan/apimachinery";
import { type Cache, type Kind, kindRef } from "@capstan/runtime";
import { type ContractObject, CustomResourceDefinition } from "./builtin-kinds.ts";
import type { ContractReference } from "./types.ts";

/** Supported contracts, newest first. The one found decides which fields are read. */
const CONTRACTS = ["v1beta2", "v1beta1"] as const;
/** A version of the Cluster API contract that a provider's kind implements; it decides which fields are read. */
export type ContractVersion = (typeof CONTRACTS)[number];

/** How to read the objects of a reference's kind, or why that is not possible. */
export type ResolvedKind =
  | { kind: Kind<ContractObject>; contract: ContractVersion; crd: CustomResourceDefinition }
  | { problem: string };

const BY_GROUP_KIND = "group-kind";

/** Adds the cache index that `resolveKind` finds CRDs with; call it before the cache starts. */
export function indexCustomResourceDefinitions(cache: Cache): void {
  cache.addIndex(CustomResourceDefinition, BY_GROUP_KIND, (crd) => [`${crd.spec.group}/${crd.spec.names.kind}`]);
}

/** Finds the kind of a reference and its contract; the API version comes from the CRD's contract labels, never from the reference. */
export function resolveKind(cache: Cache, reference: Pick<ContractReference, "apiGroup" | "kind">): ResolvedKind {
  const crd = cache.byIndex(CustomResourceDefinition, BY_GROUP_KIND, `${reference.apiGroup}/${reference.kind}`)[0];
  if (crd === undefined)
    return {
      problem: `no CustomResourceDefinition for ${reference.kind} in ${reference.apiGroup}: install the provider that defines it`,
    };
  for (const contract of CONTRACTS) {
    const listed = crd.metadata.labels?.[`cluster.x-k8s.io/${contract}`]?.split("_") ?? [];
    const served = listed.filter((name) =>
      crd.spec.versions.some((version) => version.name === name && version.served),
    );
    const version = served.sort(compareApiVersions)[0];
    if (version !== undefined)
      return {
        kind: kindFor(crd, version),
        contract,
        crd,
      };
  }
  return {
    problem: `CustomResourceDefinition ${crd.metadata.name} has no label cluster.x-k8s.io/v1beta2 or cluster.x-k8s.io/v1beta1 naming a served version: its provider does not implement this contract`,
  };
}

const kinds = new WeakMap<CustomResourceDefinition, Map<string, Kind<ContractObject>>>();

/** One kind value per CRD revision and version, so that caches keyed by it hit. */
function kindFor(crd: CustomResourceDefinition, version: string): Kind<ContractObject> {
  let byVersion = kinds.get(crd);
  if (byVersion === undefined) {
    byVersion = new Map();
    kinds.set(crd, byVersion);
  }
  let kind = byVersion.get(version);
  if (kind === undefined) {
    kind = kindRef<ContractObject>({
      group: crd.spec.group,
      version,
      kind: crd.spec.names.kind,
      plural: crd.spec.names.plural,
      namespaced: crd.spec.scope === "Namespaced",
    });
    byVersion.set(version, kind);
  }
  return kind;
}
