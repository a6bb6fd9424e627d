import { clusterResourceSetBindingAdmission } from "../admission/addons.ts";
import { clusterResourceSetBindingV1Beta1 } from "../conversion/others.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, boolean, object, optional, string, time } from "../schema/schema.ts";
import { resourceReference } from "./cluster-resource-set.ts";

const resourceBinding = object(
  {
    ...resourceReference,
    hash: optional(string({ doc: "Hash of the content that was applied last.", minLength: 1, maxLength: 256 })),
    lastAppliedTime: optional(time({ doc: "When it was applied last." })),
    applied: boolean({ doc: "Whether all of it was applied." }),
  },
  { doc: "Result of applying one Secret or ConfigMap." },
);

const spec = object(
  {
    bindings: optional(
      array(
        object(
          {
            clusterResourceSetName: string({ doc: "The ClusterResourceSet.", minLength: 1, maxLength: 253 }),
            resources: optional(
              array(resourceBinding, { doc: "Resources that it applied.", maxItems: 100, listType: "atomic" }),
            ),
          },
          { doc: "What one ClusterResourceSet has applied." },
        ),
        { doc: "What each ClusterResourceSet applied.", maxItems: 100, listType: "atomic" },
      ),
    ),
    clusterName: string({ doc: "The Cluster.", minLength: 1, maxLength: 63 }),
  },
  { doc: "What ClusterResourceSets have applied to one Cluster." },
);

/** The v1beta2 schema of a ClusterResourceSetBinding's spec; the v1beta1 schema is derived from it. */
export const schema = object({ spec });

/** Records which resources the ClusterResourceSets have applied to one Cluster; it has the Cluster's name. */
export const ClusterResourceSetBinding = defineKind({
  group: "addons.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ClusterResourceSetBinding",
  plural: "clusterresourcesetbindings",
  doc: "Records what ClusterResourceSets applied to one Cluster; it has the Cluster's name.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  status: false,
  schema,
  others: [v1beta1("addons.cluster.x-k8s.io", "ClusterResourceSetBinding", schema, clusterResourceSetBindingV1Beta1)],
  admission: clusterResourceSetBindingAdmission,
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".spec.clusterName" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type ClusterResourceSetBinding = ObjectOf<typeof ClusterResourceSetBinding>;
