import { defineKind, type ObjectOf, object, optional, templateMetadata, v1beta1 } from "@capstan/capi";
import { classSpec } from "./hosted-control-plane.ts";
import { hostedControlPlaneTemplateV1Beta1 } from "./v1beta1.ts";

const schema = object({
  spec: object(
    {
      template: object(
        { metadata: optional(templateMetadata), spec: optional(classSpec) },
        { doc: "Template that HostedControlPlanes are created from." },
      ),
    },
    { doc: "Desired state of the HostedControlPlaneTemplate." },
  ),
});

/** Template that a ClusterClass creates HostedControlPlanes from; version and replicas come from the Cluster's topology. */
export const HostedControlPlaneTemplate = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "HostedControlPlaneTemplate",
  plural: "hostedcontrolplanetemplates",
  shortNames: ["hcpt"],
  doc: "Template from which a ClusterClass creates a HostedControlPlane for each Cluster.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  status: false,
  schema,
  others: [
    v1beta1("controlplane.cluster.x-k8s.io", "HostedControlPlaneTemplate", schema, hostedControlPlaneTemplateV1Beta1),
  ],
  columns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
});
export type HostedControlPlaneTemplate = ObjectOf<typeof HostedControlPlaneTemplate>;
