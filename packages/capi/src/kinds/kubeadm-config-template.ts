import { metadataProblems } from "../admission/problems.ts";
import { kubeadmConfigTemplateV1Beta1 } from "../conversion/kubeadm.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { templateMetadata } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { object, optional } from "../schema/schema.ts";
import { kubeadmConfigProblems } from "./kubeadm-config-rules.ts";
import { kubeadmConfigSpec } from "./kubeadm-config-spec.ts";

const schema = object({
  spec: optional(
    object(
      {
        template: object(
          { metadata: optional(templateMetadata), spec: optional(kubeadmConfigSpec) },
          { doc: "Template that KubeadmConfigs are created from." },
        ),
      },
      { doc: "Desired state of the KubeadmConfigTemplate." },
    ),
  ),
});

/** Template from which KubeadmConfigs of many machines are created. */
export const KubeadmConfigTemplate = defineKind({
  group: "bootstrap.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmConfigTemplate",
  plural: "kubeadmconfigtemplates",
  doc: "Template of the KubeadmConfigs for the machines of a MachineDeployment or MachineSet.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  status: false,
  schema,
  others: [v1beta1("bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate", schema, kubeadmConfigTemplateV1Beta1)],
  columns: [
    { name: "ClusterClass", type: "string", jsonPath: '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name' },
    { name: "Cluster", type: "string", jsonPath: '.metadata.ownerReferences[?(@.kind=="Cluster")].name' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  admission: {
    validate: ({ spec }) => [
      ...metadataProblems(spec?.template.metadata, "spec.template.metadata"),
      ...kubeadmConfigProblems(spec?.template.spec ?? {}, "spec.template.spec"),
    ],
  },
});
export type KubeadmConfigTemplate = ObjectOf<typeof KubeadmConfigTemplate>;
