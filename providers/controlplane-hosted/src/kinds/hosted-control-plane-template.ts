import { defineKind, type ObjectOf, object, optional, templateMetadata } from "@capstan/capi";
import { classSpec } from "./hosted-control-plane.ts";

/** What control planes of a class are made from; version and replicas come from each Cluster's topology. */
export const HostedControlPlaneTemplate = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "HostedControlPlaneTemplate",
  plural: "hostedcontrolplanetemplates",
  shortNames: ["hcpt"],
  doc: "A HostedControlPlane for each Cluster of a ClusterClass.",
  contracts: { v1beta2: "v1beta2" },
  status: false,
  schema: object({
    spec: object({
      template: object({ metadata: optional(templateMetadata), spec: optional(classSpec) }),
    }),
  }),
  columns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
});
export type HostedControlPlaneTemplate = ObjectOf<typeof HostedControlPlaneTemplate>;
