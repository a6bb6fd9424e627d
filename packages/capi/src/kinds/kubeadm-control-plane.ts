import { kubeadmControlPlaneAdmission } from "../admission/kubeadm-control-plane.ts";
import { kubeadmControlPlaneV1Beta1 } from "../conversion/kubeadm.ts";
import { v1beta1 } from "../conversion/v1beta1.ts";
import { defineKind, type ObjectOf } from "../schema/kind.ts";
import { boolean, integer, object, optional, string, time } from "../schema/schema.ts";
import { ageColumn, conditionColumn, pausedColumn, replicasColumns } from "./columns.ts";
import { kubeadmControlPlaneSpec } from "./kubeadm-control-plane-spec.ts";
import { replicasStatus } from "./machine-template.ts";
import { deprecatedWith, legacyFailure } from "./shared-status.ts";

const status = object(
  {
    ...replicasStatus,
    initialization: optional(
      object(
        {
          controlPlaneInitialized: optional(
            boolean({ doc: "True once the control plane was reachable; it never becomes false again." }),
          ),
        },
        { doc: "Milestones of the first provisioning of the control plane.", minProperties: 1 },
      ),
    ),
    version: optional(string({ doc: "Lowest version of its Machines.", minLength: 1, maxLength: 256 })),
    lastRemediation: optional(
      object(
        {
          machine: string({ doc: "The remediated Machine.", minLength: 1, maxLength: 253 }),
          time: time({ doc: "When." }),
          retryCount: integer({ doc: "How often the remediation was retried.", minimum: 0 }),
        },
        { doc: "The last remediation of a control plane Machine." },
      ),
    ),
    deprecated: optional(
      deprecatedWith({
        ...legacyFailure,
        updatedReplicas: optional(
          integer({ doc: "Number of Machines that match the current spec, as v1beta1 counts them." }),
        ),
        readyReplicas: optional(integer({ doc: "Number of Machines whose Node is ready, as v1beta1 counts them." })),
        unavailableReplicas: optional(
          integer({ doc: "Number of Machines that are missing or not ready, as v1beta1 counts them." }),
        ),
      }),
    ),
  },
  { doc: "Observed state of the KubeadmControlPlane.", minProperties: 1 },
);

/** The v1beta2 schema of a KubeadmControlPlane's spec and status; the v1beta1 schema is derived from it. */
export const schema = object({ spec: kubeadmControlPlaneSpec, status: optional(status) });

/** A control plane that runs on Machines set up by kubeadm. */
export const KubeadmControlPlane = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "KubeadmControlPlane",
  plural: "kubeadmcontrolplanes",
  shortNames: ["kcp"],
  doc: "A control plane of Machines, each set up by kubeadm.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("controlplane.cluster.x-k8s.io", "KubeadmControlPlane", schema, kubeadmControlPlaneV1Beta1)],
  admission: kubeadmControlPlaneAdmission,
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  columns: [
    { name: "Cluster", type: "string", jsonPath: String.raw`.metadata.labels['cluster\.x-k8s\.io/cluster-name']` },
    conditionColumn("Available"),
    ...replicasColumns,
    pausedColumn,
    { name: "Initialized", type: "boolean", jsonPath: ".status.initialization.controlPlaneInitialized" },
    ageColumn,
    { name: "Version", type: "string", jsonPath: ".spec.version" },
  ],
});
export type KubeadmControlPlane = ObjectOf<typeof KubeadmControlPlane>;
