import {
  array,
  boolean,
  infraMachineKind,
  integer,
  map,
  type ObjectOf,
  object,
  openObject,
  optional,
  quantity,
  string,
  templateKind,
  templateMetadata,
} from "@capstan/capi";
import { inlinePodSpec, podSpec, runtimeClassName } from "./pod-fields.ts";

const duration = (doc: string) =>
  string({ doc, maxLength: 20, pattern: "^([1-9][0-9]*h)?([1-9][0-9]*m)?([1-9][0-9]*s)?$", minLength: 2 });
const amounts = (doc: string) => optional(map(quantity(), { doc, maxProperties: 32 }));

/** Spec of a machine, but for its provider ID. */
export const machineFields = {
  ...inlinePodSpec,
  image: optional(
    string({
      doc: "Image of the node, with a tag or digest; kindest/node with the version of the Machine by default.",
      minLength: 1,
      maxLength: 1024,
    }),
  ),
  podTemplate: optional(
    object({ metadata: optional(templateMetadata), spec: optional(podSpec) }, { doc: "Pod that is the machine." }),
  ),
  resources: optional(
    object(
      {
        requests: amounts("What the machine needs at least."),
        limits: amounts("Size of the machine, which its Node offers."),
      },
      { doc: "Resources of the node's container." },
    ),
  ),
  runtimeClassName,
  volumeClaimTemplates: optional(
    array(
      object(
        {
          metadata: object(
            {
              name: string({
                doc: "Name of the volume in the pod; the claim is called NAME-MACHINE.",
                maxLength: 63,
                pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
              }),
              labels: optional(map(string(), { doc: "Labels of the claim.", maxProperties: 64 })),
              annotations: optional(map(string(), { doc: "Annotations of the claim.", maxProperties: 64 })),
            },
            { doc: "Metadata of the claim." },
          ),
          spec: openObject({ doc: "PersistentVolumeClaimSpec of the claim." }),
        },
        { doc: "A PersistentVolumeClaim of the machine." },
      ),
      {
        doc: "Claims of the machine. The names var-lib-etcd, etc-kubernetes, var-lib-kubelet, var-lib-containerd and var-log are mounted at those folders.",
        maxItems: 16,
        listType: "atomic",
      },
    ),
  ),
  persistentVolumeClaimRetentionPolicy: optional(
    object(
      {
        whenDeleted: optional(
          string({
            doc: "What happens to the claims when the machine is deleted.",
            enum: ["Delete", "Retain"],
            default: "Delete",
          }),
        ),
      },
      { doc: "When claims are deleted." },
    ),
  ),
  recreationPolicy: optional(
    string({
      doc: "Whether a lost pod is created again under the same name; Never by default, so that the Machine must be replaced.",
      enum: ["Never", "Always"],
    }),
  ),
  allowRecreation: optional(boolean({ doc: "Same as recreationPolicy Always when true." })),
  recreationTimeout: optional(
    duration("How long a pod that is created again may take to be ready before a person must act; 15m by default."),
  ),
  bootstrapTimeout: optional(duration("How long the bootstrap data may run; 10m by default.")),
};

/** Infrastructure machine that is a pod of an outer cluster. */
export const KubernetesMachine = infraMachineKind({
  kind: "KubernetesMachine",
  doc: "A machine that is a pod of another cluster, the outer one: systemd, containerd and kubelet run in its container.",
  shortNames: ["k8sm"],
  spec: machineFields,
  status: {
    podRef: optional(
      object(
        {
          name: string({ doc: "Name of the pod." }),
          uid: optional(string({ doc: "UID of the pod; absent until it has been created." })),
          creationTimestamp: optional(string({ doc: "When the pod was created." })),
          hostCluster: optional(
            string({ doc: "Secret with the kubeconfig of the outer cluster; absent for the management cluster." }),
          ),
        },
        { doc: "The pod in the namespace of the machine." },
      ),
    ),
    nodeName: optional(string({ doc: "Node of the outer cluster that runs the pod." })),
    restarts: optional(integer({ doc: "How often the pod was created again.", minimum: 0 })),
  },
  columns: [{ name: "Outer node", type: "string", jsonPath: ".status.nodeName" }],
});
/** A KubernetesMachine object. */
export type KubernetesMachine = ObjectOf<typeof KubernetesMachine>;

/** Template that MachineSets and control planes create KubernetesMachines from. */
export const KubernetesMachineTemplate = templateKind({
  kind: "KubernetesMachineTemplate",
  doc: "Template that KubernetesMachines are created from.",
  spec: machineFields,
});
/** A KubernetesMachineTemplate object. */
export type KubernetesMachineTemplate = ObjectOf<typeof KubernetesMachineTemplate>;
