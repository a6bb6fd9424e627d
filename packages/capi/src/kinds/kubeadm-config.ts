import { kubeadmConfigV1Beta1 } from "../conversion/kubeadm.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { condition } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { array, boolean, integer, object, optional, string } from "../schema/schema.ts";
import { kubeadmConfigProblems } from "./kubeadm-config-rules.ts";
import { kubeadmConfigSpec } from "./kubeadm-config-spec.ts";
import { deprecatedStatus } from "./shared-status.ts";

const status = object(
  {
    conditions: optional(
      array(condition, { doc: "Conditions of the KubeadmConfig.", listType: "map", keys: ["type"], maxItems: 32 }),
    ),
    initialization: optional(
      object(
        {
          dataSecretCreated: optional(
            boolean({ doc: "True once the bootstrap data was created; it never becomes false again." }),
          ),
        },
        { doc: "Milestones of the first provisioning of the KubeadmConfig.", minProperties: 1 },
      ),
    ),
    dataSecretName: optional(string({ doc: "Secret with the bootstrap data.", minLength: 1, maxLength: 253 })),
    observedGeneration: optional(
      integer({ doc: "Generation of the spec that the status was computed from.", format: "int64", minimum: 1 }),
    ),
    deprecated: optional(deprecatedStatus),
  },
  { doc: "Observed state of the KubeadmConfig.", minProperties: 1 },
);

const schema = object({ spec: optional(kubeadmConfigSpec), status: optional(status) });

/** Bootstrap configuration of a machine that becomes a node by kubeadm. */
export const KubeadmConfig = defineKind({
  group: "bootstrap.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmConfig",
  plural: "kubeadmconfigs",
  doc: "How one machine becomes a node by kubeadm: the source of its bootstrap data.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("bootstrap.cluster.x-k8s.io", "KubeadmConfig", schema, kubeadmConfigV1Beta1)],
  columns: [
    { name: "Cluster", type: "string", jsonPath: String.raw`.metadata.labels['cluster\.x-k8s\.io/cluster-name']` },
    { name: "Paused", type: "string", jsonPath: '.status.conditions[?(@.type=="Paused")].status', priority: 10 },
    { name: "Data secret created", type: "string", jsonPath: ".status.initialization.dataSecretCreated" },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  admission: { validate: (config) => kubeadmConfigProblems(config.spec ?? {}, "spec") },
});
export type KubeadmConfig = ObjectOf<typeof KubeadmConfig>;
