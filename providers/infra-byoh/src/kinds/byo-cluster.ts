import { infraClusterKind, type ObjectOf, optional, string, templateKind } from "@capstan/capi";

const fields = {
  bundleLookupBaseRegistry: optional(
    string({ doc: "Accepted for compatibility with manifests of other tools; ignored.", maxLength: 512 }),
  ),
  bundleLookupTag: optional(
    string({ doc: "Accepted for compatibility with manifests of other tools; ignored.", maxLength: 256 }),
  ),
};

/** Infrastructure cluster for bring-your-own hosts; it creates no infrastructure. */
export const ByoCluster = infraClusterKind({
  kind: "ByoCluster",
  doc: "A cluster on bring-your-own hosts. It creates no infrastructure, because the hosts already exist.",
  shortNames: ["byoc"],
  spec: fields,
  alsoV1beta1: true,
});
export type ByoCluster = ObjectOf<typeof ByoCluster>;

/** Template that a ClusterClass creates ByoClusters from. */
export const ByoClusterTemplate = templateKind({
  kind: "ByoClusterTemplate",
  doc: "A template of ByoClusters.",
  shortNames: ["byoct"],
  spec: fields,
  alsoV1beta1: true,
});
