import { clusterResourceSetAdmission } from "../admission/addons.ts";
import { clusterResourceSetV1Beta1 } from "../conversion/others.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { conditions, labelSelector, observedGeneration } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, object, optional, string } from "../schema/schema.ts";
import { deprecatedConditions } from "./shared-status.ts";

/** Fields of a reference to a Secret or ConfigMap whose values are manifests. */
export const resourceReference = {
  name: string({ doc: "Name of the Secret or ConfigMap, in the same namespace.", minLength: 1, maxLength: 253 }),
  kind: string({ doc: "Secret or ConfigMap.", enum: ["Secret", "ConfigMap"] }),
};

const spec = object(
  {
    clusterSelector: labelSelector,
    resources: array(object(resourceReference, { doc: "A Secret or ConfigMap with manifests." }), {
      doc: "What to apply: Secrets of type addons.cluster.x-k8s.io/resource-set and ConfigMaps with manifests.",
      minItems: 1,
      maxItems: 100,
      listType: "atomic",
    }),
    strategy: optional(
      string({
        doc: "ApplyOnce: create what is missing, once. Reconcile: apply again whenever the content changes.",
        enum: ["ApplyOnce", "Reconcile"],
      }),
    ),
  },
  { doc: "Desired state of the ClusterResourceSet." },
);

const status = object(
  {
    conditions: optional(conditions),
    observedGeneration: optional(observedGeneration),
    deprecated: optional(deprecatedConditions),
  },
  { doc: "Observed state of the ClusterResourceSet.", minProperties: 1 },
);

/** The v1beta2 schema of a ClusterResourceSet's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({ spec, status: optional(status) });

/** Applies manifests, such as those of a pod network, to every Cluster whose labels match. */
export const ClusterResourceSet = defineKind({
  group: "addons.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "ClusterResourceSet",
  plural: "clusterresourcesets",
  doc: "Applies manifests, such as those of a pod network, to every Cluster whose labels match.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("addons.cluster.x-k8s.io", "ClusterResourceSet", schema, clusterResourceSetV1Beta1)],
  admission: clusterResourceSetAdmission,
  columns: [
    { name: "Applied", type: "string", jsonPath: '.status.conditions[?(@.type=="ResourcesApplied")].status' },
    { name: "Paused", type: "string", jsonPath: '.status.conditions[?(@.type=="Paused")].status', priority: 10 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
export type ClusterResourceSet = ObjectOf<typeof ClusterResourceSet>;
