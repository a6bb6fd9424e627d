import { definition, definitionName } from "../builtin/definitions.ts";
import type { ResourceType, SubresourceType } from "../types.ts";

/** Package of the definitions that all documents share. */
export const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** Where a kind comes from. */
export type Origin = Pick<ResourceType, "group" | "version" | "builtin">;

/** Where the kind of a subresource's body comes from: kinds of other groups (Scale, Eviction) are built in. */
export function subresourceOrigin(type: ResourceType, sub: SubresourceType): Origin {
  if (sub.group === undefined) return type;
  return { group: sub.group, version: sub.version ?? type.version, builtin: true };
}

/** Name of a type's schema: the recorded one of a built-in, else the group backwards, as Kubernetes names those of CRDs. */
export function schemaName({ group, version, builtin }: Origin, kind: string): string {
  if (builtin) {
    const recorded = definitionName(group, version, kind);
    if (definition(recorded) !== undefined) return recorded;
  }
  return [...group.split(".").reverse(), version, kind].join(".");
}

/** `api/v1` or `apis/GROUP/VERSION`. */
export function documentKey(group: string, version: string): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

/** Start of operation ids and tags: `coordinationV1`, `clusterXK8sIoV1beta2`. */
export function operationPrefix(group: string, version: string): string {
  const name = group === "" ? "core" : group.replace(/\.(authorization\.)?k8s\.io$/, "");
  return [...name.split(/[.-]/), version].map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");
}
