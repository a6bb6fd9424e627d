import {
  array,
  boolean,
  infraClusterKind,
  integer,
  type ObjectOf,
  object,
  optional,
  string,
  templateKind,
} from "@capstan/capi";

const fields = {
  capacity: optional(integer({ doc: "Maximum number of machines; unlimited by default.", minimum: 0 })),
  failureDomains: optional(
    array(
      object(
        {
          name: string({ doc: "Name of the failure domain.", minLength: 1, maxLength: 256 }),
          controlPlane: optional(boolean({ doc: "Whether control plane machines may be placed here." })),
        },
        { doc: "A failure domain that the cluster offers." },
      ),
      { doc: "Failure domains to offer.", maxItems: 100, listType: "map", keys: ["name"] },
    ),
  ),
};

/** Infrastructure cluster that exists in memory only. */
export const MemoryCluster = infraClusterKind({
  kind: "MemoryCluster",
  doc: "Infrastructure of a cluster whose machines exist in memory only: for tests, demos and measuring.",
  spec: fields,
  alsoV1beta1: true,
  columns: [{ name: "Capacity", type: "integer", jsonPath: ".spec.capacity" }],
});
/** A MemoryCluster object. */
export type MemoryCluster = ObjectOf<typeof MemoryCluster>;

/** Template that a ClusterClass creates MemoryClusters from. */
export const MemoryClusterTemplate = templateKind({
  kind: "MemoryClusterTemplate",
  doc: "Template that MemoryClusters are created from.",
  spec: fields,
  alsoV1beta1: true,
});
