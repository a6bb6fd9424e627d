import { createHash } from "node:crypto";
import { compareApiVersions, groupVersion } from "@capstan/apimachinery";
import { compareGroups } from "../builtin/group-priority.ts";
import type { ResourceRegistry, ResourceType } from "../types.ts";

/** All types of one group version, sorted by resource name. */
interface VersionTypes {
  readonly version: string;
  readonly types: readonly ResourceType[];
}

/** A served group with its versions, the preferred one first. */
export interface ServedGroup {
  readonly name: string;
  readonly versions: readonly VersionTypes[];
}

const SUBRESOURCE_VERBS = ["get", "patch", "update"];

/** What is served, in the order discovery lists it. */
export function servedGroups(registry: ResourceRegistry): ServedGroup[] {
  const groups = new Map<string, Map<string, ResourceType[]>>();
  for (const type of registry.types()) {
    const versions = getOrMake(groups, type.group, () => new Map<string, ResourceType[]>());
    getOrMake(versions, type.version, (): ResourceType[] => []).push(type);
  }
  return [...groups]
    .sort(([a], [b]) => compareGroups(a, b))
    .map(([name, versions]) => ({
      name,
      versions: [...versions]
        .sort(([a], [b]) => compareApiVersions(a, b))
        .map(([version, types]) => ({ version, types: types.sort((a, b) => (a.plural < b.plural ? -1 : 1)) })),
    }));
}

const FIXED_PATHS = [
  "/.well-known/openid-configuration",
  "/api",
  "/apis",
  "/healthz",
  "/livez",
  "/metrics",
  "/openapi/v2",
  "/openapi/v3",
  "/openid/v1/jwks",
  "/readyz",
  "/version",
];

/** Every path that documents or probes are found at, for the index at `/`. */
export function servedPaths(registry: ResourceRegistry): string[] {
  const ofGroups = servedGroups(registry).flatMap(({ name, versions }) => {
    const root = name === "" ? "/api" : `/apis/${name}`;
    return [...(name === "" ? [] : [root]), ...versions.map(({ version }) => `${root}/${version}`)];
  });
  return [...FIXED_PATHS, ...ofGroups];
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

interface Subresource {
  readonly name: string;
  readonly kind: string;
  readonly group: string;
  readonly version: string;
  readonly verbs: readonly string[];
}

/** Subresources in the order of their names, of custom resources status before scale; group and version are empty where they are those of the resource. */
function subresources(type: ResourceType): Subresource[] {
  const all: Subresource[] = type.subresources.map((s) => ({ group: "", version: "", ...s }));
  if (type.status) all.push({ name: "status", kind: type.kind, group: "", version: "", verbs: SUBRESOURCE_VERBS });
  if (type.scale !== undefined)
    all.push({ name: "scale", kind: "Scale", group: "autoscaling", version: "v1", verbs: SUBRESOURCE_VERBS });
  return type.builtin ? all.sort((a, b) => (a.name < b.name ? -1 : 1)) : all;
}

/** The order in which upstream lists the verbs of custom resources. */
const CUSTOM_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

function verbsOf(type: ResourceType): readonly string[] {
  const verbs: readonly string[] = type.verbs;
  return type.builtin ? verbs : CUSTOM_VERBS.filter((verb) => verbs.includes(verb));
}

const optional = (key: string, values: readonly unknown[]): object => (values.length === 0 ? {} : { [key]: values });

/** apidiscovery.k8s.io/v2 APIGroupDiscoveryList. */
export function aggregatedDocument(groups: readonly ServedGroup[]): object {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name === "" ? {} : { name: group.name },
      versions: group.versions.map(({ version, types }) => ({
        version,
        resources: types.map(aggregatedResource),
        freshness: "Current",
      })),
    })),
  };
}

function aggregatedResource(type: ResourceType): object {
  const subs = subresources(type).map(({ name, kind, group, version, verbs }) => ({
    subresource: name,
    responseKind: group === "" && version === "" ? responseKind(type, kind) : { group, version, kind },
    verbs,
  }));
  return {
    resource: type.plural,
    responseKind: responseKind(type, type.kind),
    scope: type.namespaced ? "Namespaced" : "Cluster",
    singularResource: type.singular,
    verbs: verbsOf(type),
    ...optional("shortNames", type.shortNames),
    ...optional("categories", type.categories),
    ...optional("subresources", subs),
  };
}

/** Built-in kinds leave group and version empty, custom ones spell them out, as the real server does. */
function responseKind({ group, version, builtin }: ResourceType, kind: string): object {
  return builtin ? { group: "", version: "", kind } : { group, version, kind };
}

/** `/api` in the old form. */
export function apiVersionsDocument(): object {
  return {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [],
  };
}

/** APIGroup, with kind and apiVersion only when it stands alone. */
export function apiGroupDocument(group: ServedGroup, alone: boolean): object {
  const versions = group.versions.map(({ version }) => ({ groupVersion: groupVersion(group.name, version), version }));
  return {
    ...(alone ? { kind: "APIGroup", apiVersion: "v1" } : {}),
    name: group.name,
    versions,
    preferredVersion: versions[0],
  };
}

/** `/apis` in the old form. */
export function apiGroupListDocument(groups: readonly ServedGroup[]): object {
  return {
    kind: "APIGroupList",
    apiVersion: "v1",
    groups: groups.filter((g) => g.name !== "").map((g) => apiGroupDocument(g, false)),
  };
}

/** The resources of one group version in the old form. */
export function apiResourceListDocument(group: string, { version, types }: VersionTypes): object {
  return {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: groupVersion(group, version),
    resources: types.flatMap((type) => [apiResource(type), ...subresources(type).map((s) => apiSubresource(type, s))]),
  };
}

function apiResource(type: ResourceType): object {
  return {
    name: type.plural,
    singularName: type.singular,
    namespaced: type.namespaced,
    kind: type.kind,
    verbs: verbsOf(type),
    ...optional("shortNames", type.shortNames),
    ...optional("categories", type.categories),
    ...(type.strategy.createOnly === undefined ? { storageVersionHash: storageVersionHash(type) } : {}),
  };
}

function apiSubresource(type: ResourceType, s: Subresource): object {
  return {
    name: `${type.plural}/${s.name}`,
    singularName: "",
    namespaced: type.namespaced,
    ...(s.group === "" ? {} : { group: s.group, version: s.version }),
    kind: s.kind,
    verbs: s.verbs,
  };
}

/** Another view of a stored type says where, and in which version, its objects are. */
function storageOf(type: ResourceType): { group: string; storageVersion: string } {
  return { group: type.storedAs?.group ?? type.group, storageVersion: type.storedAs?.version ?? type.storageVersion };
}

/** Lets clients detect when the stored form of a kind changes. */
function storageVersionHash(type: ResourceType): string {
  const { group, storageVersion } = storageOf(type);
  const text = `${group}/${storageVersion}/${type.kind}`;
  return createHash("sha256").update(text).digest().subarray(0, 8).toString("base64");
}
