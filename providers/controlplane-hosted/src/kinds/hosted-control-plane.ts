import {
  array,
  boolean,
  condition,
  defineKind,
  documented,
  type Infer,
  integer,
  map,
  type ObjectOf,
  object,
  optional,
  type Schema,
  string,
  v1beta1,
} from "@capstan/capi";
import { backupStatusFields } from "@capstan/controlplane";
import { apiServer, component, OBJECT_NAME } from "./component-settings.ts";
import { etcd } from "./etcd-settings.ts";
import { hostedControlPlaneV1Beta1 } from "./v1beta1.ts";

/** Pattern of a Kubernetes version: `vX.Y.Z` with an optional pre-release. */
export const KUBERNETES_VERSION_PATTERN = String.raw`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$`;

const endpoint = object(
  {
    host: string({ doc: "Address or name at which workers and users reach the API.", minLength: 1, maxLength: 512 }),
    port: integer({ doc: "Port of the API.", minimum: 1, maximum: 65535 }),
  },
  {
    doc: "Endpoint at which clients and nodes reach the API server; immutable once it is set.",
    rules: [
      {
        rule: "self == oldSelf",
        message: "controlPlaneEndpoint is immutable once set: nodes and certificates depend on it",
      },
    ],
  },
);

const rotation = object(
  {
    phase: string({
      doc: "Phase of the rotation: `Trust` creates new authorities and trusts them in addition to the old ones, `Issue` issues everything with the new ones, `Retire` removes the trust in the old ones. Set them one after the other; condition AuthoritiesCurrent says what to do in between.",
      enum: ["Trust", "Issue", "Retire"],
    }),
    authorities: optional(
      array(string({ enum: ["Cluster", "Etcd", "FrontProxy", "ServiceAccount"] }), {
        doc: "Authorities to rotate; all if empty.",
        listType: "set",
        maxItems: 4,
      }),
    ),
  },
  { doc: "Rotation of the certificate authorities and of the service account key." },
);

const addon = object({ enabled: optional(boolean({ doc: "Whether the add-on is installed.", default: true })) });

const toleration = object(
  {
    key: optional(string({ doc: "Key of the taint; empty with Exists tolerates all taints.", maxLength: 316 })),
    operator: optional(string({ doc: "How the value is compared; Equal by default.", enum: ["Exists", "Equal"] })),
    value: optional(string({ doc: "Value of the taint; empty with Exists.", maxLength: 63 })),
    effect: optional(
      string({
        doc: "Effect of the taint; all effects by default.",
        enum: ["NoSchedule", "PreferNoSchedule", "NoExecute"],
      }),
    ),
    tolerationSeconds: optional(
      integer({ doc: "How long a NoExecute taint is tolerated, in seconds; forever by default.", format: "int64" }),
    ),
  },
  { doc: "A toleration of the pods." },
);

const pods = object(
  {
    nodeSelector: optional(
      map(string({ maxLength: 63 }), { doc: "Labels that a node of the host cluster must have." }),
    ),
    tolerations: optional(array(toleration, { doc: "Taints of nodes that the pods tolerate.", maxItems: 50 })),
    priorityClassName: optional(
      string({ doc: "Priority class of the pods; by default the default class of the host cluster.", maxLength: 253 }),
    ),
    imagePullSecrets: optional(
      array(string({ maxLength: 253 }), { doc: "Names of Secrets in the host cluster.", maxItems: 20 }),
    ),
  },
  { doc: "Pods: which nodes of the host cluster they may run on, and how they pull their images." },
);

/** Fields that a class of control planes can set: all but the version, the size and the address. */
const sharedFields = {
  placement: optional(
    object(
      { type: string({ doc: "Where it runs.", enum: ["Pods", "Process", "Embedded"] }) },
      {
        doc: "Where the components run. The default is a flag of the manager.",
        rules: [
          {
            rule: "self == oldSelf",
            message: "placement is immutable: create a new control plane and restore a backup into it",
          },
        ],
      },
    ),
  ),
  hostCluster: optional(
    object(
      {
        secretName: string({
          doc: "Secret with the kubeconfig (key `value`) of the cluster that runs the pods.",
          pattern: OBJECT_NAME,
          maxLength: 253,
        }),
      },
      { doc: "Pods: the cluster that runs the pods; the management cluster by default." },
    ),
  ),
  pods: optional(pods),
  expose: optional(
    object(
      {
        type: optional(
          string({ doc: "Pods: how the API is reached.", enum: ["LoadBalancer", "NodePort", "ClusterIP"] }),
        ),
        bindAddress: optional(string({ doc: "Process: address to listen on.", maxLength: 64 })),
        certSANs: optional(
          array(string({ maxLength: 253 }), {
            doc: "More names and addresses for the serving certificate.",
            maxItems: 100,
          }),
        ),
      },
      { doc: "How the API server is exposed." },
    ),
  ),
  etcd: optional(etcd),
  apiServer: optional(apiServer),
  controllerManager: optional(documented(component, "Settings of kube-controller-manager.")),
  scheduler: optional(documented(component, "Settings of kube-scheduler.")),
  certificates: optional(
    object(
      {
        encryptionAlgorithm: optional(
          string({
            doc: "Algorithm of new private keys; ECDSA-P256 by default.",
            enum: ["ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"],
          }),
        ),
        rotation: optional(rotation),
      },
      { doc: "Settings of keys and certificates." },
    ),
  ),
  addons: optional(
    object(
      {
        coreDNS: optional(documented(addon, "The DNS add-on, CoreDNS.")),
        kubeProxy: optional(
          object(
            {
              enabled: optional(boolean({ doc: "Whether kube-proxy is installed.", default: true })),
              mode: optional(
                string({
                  doc: "Proxy mode of kube-proxy; by default kube-proxy's own.",
                  enum: ["iptables", "nftables"],
                }),
              ),
            },
            { doc: "The kube-proxy add-on." },
          ),
        ),
        konnectivity: optional(
          object(
            {
              mode: optional(
                string({
                  doc: "Whether the tunnel is used: Auto, the default, uses it only with placement Pods; On is rejected with any other placement.",
                  enum: ["Auto", "On", "Off"],
                }),
              ),
            },
            { doc: "The tunnel through which the API server reaches nodes and pods." },
          ),
        ),
      },
      { doc: "Add-ons that are installed in the workload cluster." },
    ),
  ),
  imageRepository: optional(
    string({
      doc: "Registry of the images of add-ons and, with placement Pods, of the control plane.",
      default: "registry.k8s.io",
      maxLength: 255,
    }),
  ),
};

const spec = object(
  {
    version: string({
      doc: "Kubernetes version. It can be raised by at most one minor version, and never lowered.",
      pattern: KUBERNETES_VERSION_PATTERN,
      maxLength: 64,
    }),
    replicas: optional(
      integer({
        doc: "Number of kube-apiservers. 0 hibernates the control plane; its data is kept.",
        minimum: 0,
        maximum: 9,
        default: 1,
      }),
    ),
    controlPlaneEndpoint: optional(endpoint),
    ...sharedFields,
  },
  {
    doc: "Desired state of the HostedControlPlane.",
    rules: [
      {
        rule: "(has(self.etcd) && has(self.etcd.shared)) == (has(oldSelf.etcd) && has(oldSelf.etcd.shared))",
        message: "etcd.shared can be neither added nor removed: make a new control plane",
      },
    ],
  },
);

const versionCount = object(
  {
    version: string({ doc: "Kubernetes version.", maxLength: 64 }),
    replicas: integer({ doc: "Number of replicas that run this version.", minimum: 0 }),
  },
  { doc: "How many replicas run one version." },
);

const status = object(
  {
    conditions: optional(
      array(condition, { doc: "Conditions of the HostedControlPlane.", listType: "map", keys: ["type"], maxItems: 32 }),
    ),
    initialization: optional(
      object(
        { controlPlaneInitialized: optional(boolean({ doc: "True once workers may join; never goes back." })) },
        { doc: "Milestones of the first provisioning of the control plane." },
      ),
    ),
    externalManagedControlPlane: optional(
      boolean({ doc: "Always true: there are no control plane Machines nor Nodes." }),
    ),
    version: optional(string({ doc: "Kubernetes version that the control plane runs.", maxLength: 64 })),
    versions: optional(array(versionCount, { doc: "Kubernetes versions in use.", maxItems: 10 })),
    selector: optional(
      string({ doc: "Label selector of the replicas as text, for the scale subresource.", maxLength: 4096 }),
    ),
    replicas: optional(integer({ doc: "Number of kube-apiservers that exist.", minimum: 0 })),
    readyReplicas: optional(integer({ doc: "Number of kube-apiservers that are ready.", minimum: 0 })),
    availableReplicas: optional(integer({ doc: "Number of kube-apiservers that are available.", minimum: 0 })),
    upToDateReplicas: optional(integer({ doc: "Number of kube-apiservers that run spec.version.", minimum: 0 })),
    backup: optional(object(backupStatusFields, { doc: "The backups of etcd." })),
    observedGeneration: optional(
      integer({ doc: "Generation of the spec that the status was computed from.", minimum: 1, format: "int64" }),
    ),
  },
  { doc: "Observed state of the HostedControlPlane." },
);

/** Desired state of a HostedControlPlane. */
export type HostedControlPlaneSpec = Infer<typeof spec>;

/** The part of a spec that a class of control planes can set. */
export const classSpec: Schema<Omit<HostedControlPlaneSpec, "version" | "replicas" | "controlPlaneEndpoint">> = object(
  sharedFields,
  { doc: "Desired state of the HostedControlPlanes that are created from the template." },
);

const schema = object({ spec: spec as Schema<HostedControlPlaneSpec>, status: optional(status) });

/** A control plane that runs without Machines or Nodes: as pods, as processes or inside the manager. */
export const HostedControlPlane = defineKind({
  group: "controlplane.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "HostedControlPlane",
  plural: "hostedcontrolplanes",
  shortNames: ["hcp"],
  doc: "A Kubernetes control plane (etcd, kube-apiserver, kube-controller-manager, kube-scheduler) that runs inside the management plane and that ordinary nodes join.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  others: [v1beta1("controlplane.cluster.x-k8s.io", "HostedControlPlane", schema, hostedControlPlaneV1Beta1)],
  scale: {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  },
  columns: [
    { name: "Cluster", type: "string", jsonPath: ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']" },
    { name: "Available", type: "string", jsonPath: ".status.conditions[?(@.type=='Available')].status" },
    { name: "Placement", type: "string", jsonPath: ".spec.placement.type" },
    { name: "Host", type: "string", jsonPath: ".spec.controlPlaneEndpoint.host" },
    { name: "Port", type: "integer", jsonPath: ".spec.controlPlaneEndpoint.port" },
    { name: "Initialized", type: "boolean", jsonPath: ".status.initialization.controlPlaneInitialized", priority: 1 },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "Version", type: "string", jsonPath: ".spec.version" },
  ],
});
export type HostedControlPlane = ObjectOf<typeof HostedControlPlane>;
