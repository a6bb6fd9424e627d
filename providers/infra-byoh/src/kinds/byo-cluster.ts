import { infraClusterKind, type ObjectOf, optional, string, templateKind } from "@capstan/capi";

const fields = {
  bundleLookupBaseRegistry: optional(
    string({ doc: "Accepted for manifests of other tools; nothing reads it.", maxLength: 512 }),
  ),
  bundleLookupTag: optional(
    string({ doc: "Accepted for manifests of other tools; nothing reads it.", maxLength: 256 }),
  ),
};

/** Infrastructure cluster for bring-your-own hosts; it creates no infrastructure. */
export const ByoCluster = infraClusterKind({
  kind: "ByoCluster",
  doc: "A cluster on hosts that their owner brings. It makes nothing: the hosts are there.",
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
