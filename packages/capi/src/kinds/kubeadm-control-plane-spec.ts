import { contractReference, templateMetadata } from "../schema/common.ts";
import { documented, integer, intOrString, object, optional, string, time } from "../schema/schema.ts";
import { kubeadmConfigSpec } from "./kubeadm-config-spec.ts";
import { machineDeletion, machineTaints, readinessGates } from "./machine-spec.ts";
import { machineNaming } from "./machine-template.ts";

const rollout = object(
  {
    before: optional(
      object(
        {
          certificatesExpiryDays: optional(
            integer({ doc: "Replace Machines whose certificates expire within this number of days.", minimum: 7 }),
          ),
        },
        { doc: "Events before which Machines are replaced.", minProperties: 1 },
      ),
    ),
    after: optional(time({ doc: "Machines older than this are replaced." })),
    strategy: optional(
      object(
        {
          type: string({ doc: "How Machines are replaced.", enum: ["RollingUpdate"] }),
          rollingUpdate: optional(
            object(
              { maxSurge: optional(intOrString({ doc: "0 or 1; default 1." })) },
              { doc: "Limits of a rolling update.", minProperties: 1 },
            ),
          ),
        },
        { doc: "How Machines are replaced.", minProperties: 1 },
      ),
    ),
  },
  { doc: "When and how control plane Machines are replaced.", minProperties: 1 },
);

const remediation = object(
  {
    maxRetry: optional(integer({ doc: "How often a remediation is retried; unlimited by default." })),
    retryPeriodSeconds: optional(integer({ doc: "How long to wait before a retry.", minimum: 0 })),
    minHealthyPeriodSeconds: optional(
      integer({ doc: "The retry count is reset once a Machine was healthy for this time; default 3600.", minimum: 0 }),
    ),
  },
  { doc: "Limits for the remediation of unhealthy control plane Machines.", minProperties: 1 },
);

const shared = {
  rollout: optional(rollout),
  remediation: optional(remediation),
  machineNaming: optional(machineNaming),
};

/** KubeadmControlPlane.spec. */
export const kubeadmControlPlaneSpec = object(
  {
    replicas: optional(integer({ doc: "Number of control plane Machines; odd unless etcd is external." })),
    version: string({
      doc: "Kubernetes version; it can be raised by at most one minor version.",
      minLength: 1,
      maxLength: 256,
    }),
    machineTemplate: object(
      {
        metadata: optional(templateMetadata),
        spec: object(
          {
            infrastructureRef: documented(
              contractReference,
              "Reference to the template of the infrastructure machines.",
            ),
            readinessGates: optional(readinessGates),
            deletion: optional(machineDeletion),
            taints: optional(machineTaints),
          },
          { doc: "Desired state of the control plane Machines." },
        ),
      },
      { doc: "Template that control plane Machines are created from." },
    ),
    kubeadmConfigSpec: optional(kubeadmConfigSpec),
    ...shared,
  },
  { doc: "Desired state of the KubeadmControlPlane." },
);

/** What a class's template of control planes holds: no replicas, version or infrastructure, which topologies give. */
export const kubeadmControlPlaneTemplateSpec = object(
  {
    machineTemplate: optional(
      object(
        {
          metadata: optional(templateMetadata),
          spec: optional(
            object(
              { deletion: optional(machineDeletion), taints: optional(machineTaints) },
              { doc: "Desired state of the control plane Machines.", minProperties: 1 },
            ),
          ),
        },
        { doc: "Template that control plane Machines are created from.", minProperties: 1 },
      ),
    ),
    kubeadmConfigSpec: optional(kubeadmConfigSpec),
    ...shared,
  },
  { doc: "Desired state of the KubeadmControlPlanes that are created from the template.", minProperties: 1 },
);
