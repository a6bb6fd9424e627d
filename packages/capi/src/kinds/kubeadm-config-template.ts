import { templateMetadata } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { object, optional } from "../schema/schema.ts";
import { kubeadmConfigProblems } from "./kubeadm-config-rules.ts";
import { kubeadmConfigSpec } from "./kubeadm-config-spec.ts";

/** What KubeadmConfigs of many machines are made from. */
export const KubeadmConfigTemplate = defineKind({
  group: "bootstrap.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmConfigTemplate",
  plural: "kubeadmconfigtemplates",
  doc: "A KubeadmConfig for each machine of a MachineDeployment or MachineSet.",
  contracts: { v1beta2: "v1beta2" },
  status: false,
  schema: object({
    spec: optional(
      object({
        template: object({ metadata: optional(templateMetadata), spec: optional(kubeadmConfigSpec) }),
      }),
    ),
  }),
  columns: [
    { name: "ClusterClass", type: "string", jsonPath: '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name' },
    { name: "Cluster", type: "string", jsonPath: '.metadata.ownerReferences[?(@.kind=="Cluster")].name' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
  admission: {
    validate: (template) => kubeadmConfigProblems(template.spec?.template.spec ?? {}, "spec.template.spec"),
  },
});
export type KubeadmConfigTemplate = ObjectOf<typeof KubeadmConfigTemplate>;
