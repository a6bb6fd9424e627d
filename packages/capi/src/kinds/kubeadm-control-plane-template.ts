import { kubeadmControlPlaneTemplateAdmission } from "../admission/kubeadm-control-plane.ts";
import { kubeadmControlPlaneTemplateV1Beta1 } from "../conversion/kubeadm.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { templateMetadata } from "../schema/common.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { object, optional } from "../schema/schema.ts";
import { ageColumn } from "./columns.ts";
import { kubeadmControlPlaneTemplateSpec } from "./kubeadm-control-plane-spec.ts";

/** The v1beta2 schema of a KubeadmControlPlaneTemplate's spec; the v1beta1 schema is derived from it. */
export const schema = object({
  spec: optional(
    object(
      {
        template: object(
          { metadata: optional(templateMetadata), spec: optional(kubeadmControlPlaneTemplateSpec) },
          { doc: "Template that KubeadmControlPlanes are created from.", minProperties: 1 },
        ),
      },
      { doc: "Desired state of the KubeadmControlPlaneTemplate." },
    ),
  ),
});

/** Template of the KubeadmControlPlanes of a ClusterClass. */
export const KubeadmControlPlaneTemplate = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmControlPlaneTemplate",
  plural: "kubeadmcontrolplanetemplates",
  doc: "Template from which a ClusterClass creates a KubeadmControlPlane for each Cluster.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  status: false,
  schema,
  others: [
    v1beta1("controlplane.cluster.x-k8s.io", "KubeadmControlPlaneTemplate", schema, kubeadmControlPlaneTemplateV1Beta1),
  ],
  admission: kubeadmControlPlaneTemplateAdmission,
  columns: [
    { name: "ClusterClass", type: "string", jsonPath: '.metadata.ownerReferences[?(@.kind=="ClusterClass")].name' },
    ageColumn,
  ],
});
export type KubeadmControlPlaneTemplate = ObjectOf<typeof KubeadmControlPlaneTemplate>;
