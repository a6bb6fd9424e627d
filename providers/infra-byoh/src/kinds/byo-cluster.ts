import { infraClusterKind, type ObjectOf, optional, string, templateKind } from "@capstan/capi";

const fields = {
  bundleLookupBaseRegistry: optional(
    string({ doc: "Accepted for manifests of other tools; nothing reads it.", maxLength: 512 }),
  ),
  bundleLookupTag: optional(
    string({ doc: "Accepted for manifests of other tools; nothing reads it.", maxLength: 256 }),
  ),
};

/** The infrastructure of a cluster on own hosts: there is nothing to make. */
export const ByoCluster = infraClusterKind({
  kind: "ByoCluster",
  doc: "A cluster on hosts that their owner brings. It makes nothing: the hosts are there.",
  shortNames: ["byoc"],
  spec: fields,
  alsoV1beta1: true,
});
export type ByoCluster = ObjectOf<typeof ByoCluster>;

export const ByoClusterTemplate = templateKind({
  kind: "ByoClusterTemplate",
  doc: "A template of ByoClusters.",
  shortNames: ["byoct"],
  spec: fields,
  alsoV1beta1: true,
});
