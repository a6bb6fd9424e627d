import {
  type AdmissionProblem,
  array,
  boolean,
  infraClusterKind,
  integer,
  type ObjectOf,
  object,
  objectName,
  optional,
  string,
  templateKind,
  templateMetadata,
} from "@capstan/capi";

/** How the Service of a control plane on machines is made. */
const TYPES = ["ClusterIP", "LoadBalancer", "NodePort", "None"] as const;

const fields = {
  controlPlaneService: optional(
    object(
      {
        type: optional(
          string({
            doc: "Type of the Service in front of a control plane on machines; ClusterIP by default, None for an address of your own in spec.controlPlaneEndpoint.",
            enum: TYPES,
          }),
        ),
        metadata: optional(templateMetadata),
        port: optional(integer({ doc: "Port of the Service; 6443 by default.", minimum: 1, maximum: 65_535 })),
        loadBalancerClass: optional(string({ doc: "Class of the load balancer.", maxLength: 253 })),
        loadBalancerSourceRanges: optional(
          array(string({ maxLength: 64 }), { doc: "Addresses that the load balancer accepts.", maxItems: 100 }),
        ),
        externalTrafficPolicy: optional(
          string({ doc: "How traffic from outside is routed.", enum: ["Cluster", "Local"] }),
        ),
      },
      {
        doc: "Service in front of the API servers of a control plane on machines. Other control planes have one of their own.",
      },
    ),
  ),
  controlPlaneServiceType: optional(string({ doc: "Same as controlPlaneService.type.", enum: TYPES })),
  hostCluster: optional(
    object(
      { secretName: objectName("Secret in the same namespace with the kubeconfig of the outer cluster (key value).") },
      { doc: "Outer cluster that runs the pods; the management cluster by default." },
    ),
  ),
  failureDomains: optional(
    object(
      {
        label: string({
          doc: "Label of the outer nodes whose values are the failure domains, such as topology.kubernetes.io/zone.",
          minLength: 1,
          maxLength: 317,
        }),
      },
      { doc: "Which failure domains machines can be placed in; none by default." },
    ),
  ),
  disruptionProtection: optional(
    string({
      doc: "Quorum, the default, keeps evictions in the outer cluster from taking the quorum of a control plane on machines; None allows them.",
      enum: ["Quorum", "None"],
    }),
  ),
};

/** Infrastructure cluster whose machines are pods of an outer cluster. */
export const KubernetesCluster = infraClusterKind({
  kind: "KubernetesCluster",
  doc: "Infrastructure of a cluster whose machines are pods of another cluster, the outer one.",
  shortNames: ["k8sc"],
  spec: fields,
  status: {
    endpointNode: optional(
      string({ doc: "Outer node whose address is the endpoint of a Service of type NodePort.", maxLength: 253 }),
    ),
    contacted: optional(boolean({ doc: "Whether there may be objects of this cluster in the outer one." })),
  },
  admission: {
    validate: (object, old) => (old === undefined ? [] : fixedFields(object as Shape, old as Shape)),
  },
});
/** A KubernetesCluster object. */
export type KubernetesCluster = ObjectOf<typeof KubernetesCluster>;

/** Template that a ClusterClass creates KubernetesClusters from. */
export const KubernetesClusterTemplate = templateKind({
  kind: "KubernetesClusterTemplate",
  doc: "Template that KubernetesClusters are created from.",
  spec: fields,
});

interface Shape {
  spec?: {
    controlPlaneEndpoint?: { host?: string };
    controlPlaneService?: { type?: string };
    controlPlaneServiceType?: string;
    hostCluster?: { secretName?: string };
  };
}

/** Returns the type of a cluster's Service. */
export function serviceType({ spec }: Shape): (typeof TYPES)[number] {
  const type = spec?.controlPlaneService?.type ?? spec?.controlPlaneServiceType;
  return TYPES.find((each) => each === type) ?? "ClusterIP";
}

/** Certificates and nodes have the endpoint, and machines their pods in the outer cluster. */
function fixedFields(object: Shape, old: Shape): AdmissionProblem[] {
  const problems: AdmissionProblem[] = [];
  if (old.spec?.controlPlaneEndpoint?.host !== undefined && serviceType(object) !== serviceType(old))
    problems.push({
      type: "FieldValueForbidden",
      field: "spec.controlPlaneService.type",
      detail: "the type cannot change once the endpoint is set: certificates and nodes have its address",
    });
  if (object.spec?.hostCluster?.secretName !== old.spec?.hostCluster?.secretName)
    problems.push({
      type: "FieldValueForbidden",
      field: "spec.hostCluster",
      detail: "pods cannot move to another outer cluster: create another Cluster there",
    });
  return problems;
}
