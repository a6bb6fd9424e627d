import {
  array,
  boolean,
  condition,
  defineKind,
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
import { OWN_FILES } from "../components/own-files.ts";
import { hostedControlPlaneV1Beta1 } from "./v1beta1.ts";

/** Pattern of a Kubernetes version: `vX.Y.Z` with an optional pre-release. */
export const KUBERNETES_VERSION_PATTERN = String.raw`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$`;

/** A name without a slash: what is named lies in the same namespace and nowhere else. */
const OBJECT_NAME = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$";

const endpoint = object(
  {
    host: string({ doc: "Address or name that workers and users reach the API at.", minLength: 1, maxLength: 512 }),
    port: integer({ doc: "Port of the API.", minimum: 1, maximum: 65535 }),
  },
  {
    rules: [
      {
        rule: "self == oldSelf",
        message: "controlPlaneEndpoint is immutable once set: nodes and certificates depend on it",
      },
    ],
  },
);

const argument = object({
  name: string({ doc: "Flag without leading dashes.", pattern: "^[a-z0-9][a-z0-9-]*$", maxLength: 128 }),
  value: optional(string({ doc: "Its value. `$FILES/NAME` stands for a file of `files`.", maxLength: 1024 })),
});

const file = object({
  name: string({
    doc: "File name; arguments refer to it as `$FILES/NAME`.",
    pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
    maxLength: 128,
    rules: [
      {
        rule: `!(self in ${JSON.stringify(OWN_FILES).replaceAll('"', "'")})`,
        message: "this is a file of the control plane itself; choose another name",
      },
    ],
  }),
  content: optional(string({ doc: "Its content, when it is no secret.", maxLength: 10240 })),
  contentFrom: optional(
    object({
      secret: object({ name: string({ pattern: OBJECT_NAME, maxLength: 253 }), key: string({ maxLength: 253 }) }),
    }),
  ),
});

const amounts = map(string({ maxLength: 32 }), {
  doc: "Kubernetes quantities, such as `cpu: 250m` and `memory: 512Mi`.",
});

/** What a component's container is given, where it is one. */
const containerFields = {
  image: optional(
    string({ doc: "Pods: image of the component; by default that of the version.", minLength: 1, maxLength: 512 }),
  ),
  resources: optional(
    object(
      { requests: optional(amounts), limits: optional(amounts) },
      { doc: "Pods: what the container asks for and may use; by default kubeadm's requests and no limits." },
    ),
  ),
};

const fileName = (doc: string) => optional(string({ doc, pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$", maxLength: 128 }));

const componentFields = {
  ...containerFields,
  featureGates: optional(map(boolean({}), { doc: "Feature gates by name." })),
  extraArgs: optional(
    array(argument, { doc: "More flags. Flags that the placement owns are refused.", maxItems: 100 }),
  ),
  files: optional(
    array(file, {
      doc: "Files the flags refer to, such as an audit policy.",
      maxItems: 20,
      listType: "map",
      keys: ["name"],
    }),
  ),
  memoryBytes: optional(integer({ doc: "Soft memory limit in bytes.", minimum: 0, format: "int64" })),
};

const component = object(componentFields);

const pluginNames = array(string({ pattern: "^[A-Za-z0-9]+$", maxLength: 128 }), { listType: "set", maxItems: 50 });

const apiServer = object({
  ...componentFields,
  oidc: optional(
    object(
      {
        issuerURL: string({ doc: "Of the tokens.", pattern: "^https://", maxLength: 512 }),
        clientID: string({ doc: "Tokens must be issued for it.", minLength: 1, maxLength: 512 }),
        usernameClaim: optional(string({ maxLength: 128 })),
        usernamePrefix: optional(string({ maxLength: 128 })),
        groupsClaim: optional(string({ maxLength: 128 })),
        groupsPrefix: optional(string({ maxLength: 128 })),
        caFile: fileName("Entry of `files` with the CA of the issuer."),
      },
      { doc: "Users that log in elsewhere." },
    ),
  ),
  audit: optional(
    object(
      {
        policyFile: string({
          doc: "Entry of `files` with the audit policy.",
          pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
          maxLength: 128,
        }),
        maxAgeDays: optional(integer({ doc: "How long old logs are kept; 30 unless set.", minimum: 0, maximum: 3650 })),
        maxBackups: optional(integer({ doc: "How many old logs are kept; 10 unless set.", minimum: 0, maximum: 1000 })),
        maxSizeMiB: optional(integer({ doc: "When a new log is begun; 100 unless set.", minimum: 1, maximum: 10_000 })),
      },
      { doc: "An audit log: Process `kube-apiserver/data/audit.log`, Pods the container's log." },
    ),
  ),
  encryption: optional(
    object(
      {
        resources: optional(
          array(string({ maxLength: 253 }), {
            doc: "What is encrypted in etcd, such as `secrets` and `configmaps`; secrets unless set.",
            listType: "set",
            maxItems: 50,
          }),
        ),
      },
      { doc: "Encryption at rest with a key of its own, in Secret `CLUSTER-encryption`." },
    ),
  ),
  admission: optional(
    object(
      {
        enable: optional(pluginNames),
        disable: optional(pluginNames),
        configFile: fileName("Entry of `files` with an AdmissionConfiguration."),
      },
      { doc: "Admission plugins beside the default ones." },
    ),
  ),
});

/** Parts with a letter or a digit: `.` and `..` would be taken out of the address. */
const S3_PREFIX = "^[._-]*[A-Za-z0-9][A-Za-z0-9._-]*(/[._-]*[A-Za-z0-9][A-Za-z0-9._-]*)*$";

const s3 = object({
  endpoint: string({
    doc: "Address of an S3-compatible store, such as `https://s3.eu-central-1.amazonaws.com`.",
    pattern: "^https?://[^/?#@\\\\]+/?$",
    maxLength: 512,
  }),
  bucket: string({ pattern: "^[a-z0-9][a-z0-9.-]*$", maxLength: 63 }),
  prefix: optional(string({ doc: "Put before the keys.", pattern: S3_PREFIX, maxLength: 512 })),
  region: optional(string({ pattern: "^[a-z0-9-]+$", maxLength: 64 })),
  secretName: string({
    doc: "Secret with the keys `accessKeyId` and `secretAccessKey`.",
    pattern: OBJECT_NAME,
    maxLength: 253,
  }),
});

const etcd = object({
  ...containerFields,
  toolsImage: optional(
    string({
      doc: "Pods: image with sh, head and sha256sum that receives a backup which is restored; busybox of `imageRepository` unless set.",
      minLength: 1,
      maxLength: 512,
    }),
  ),
  replicas: optional(
    integer({
      doc: "Members: 1, 3 or 5.",
      default: 1,
      rules: [{ rule: "self in [1, 3, 5]", message: "etcd needs an odd number of members: 1, 3 or 5" }],
    }),
  ),
  shared: optional(
    object(
      {
        name: string({
          doc: "All that name the same one share it.",
          pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
          maxLength: 63,
          rules: [{ rule: "self == oldSelf", message: "the shared etcd that holds the data cannot be changed" }],
        }),
      },
      {
        doc: "Process: keeps the data in an etcd that control planes of this machine share, below a prefix that only this one can read and write. `quotaBytes` is then what its objects may take, 256 MiB unless set.",
      },
    ),
  ),
  storage: optional(
    object({
      type: optional(string({ enum: ["PersistentVolumeClaim", "EmptyDir"] })),
      size: optional(string({ doc: "Of each member's volume, 8Gi unless set.", maxLength: 32 })),
      storageClassName: optional(string({ doc: "The host cluster's default class unless set.", maxLength: 253 })),
    }),
  ),
  backup: optional(
    object({
      schedule: optional(
        string({ doc: "When to back up: five fields of cron, in UTC, such as `0 3 * * *`.", maxLength: 64 }),
      ),
      keep: optional(integer({ doc: "How many are kept.", minimum: 1, maximum: 1000, default: 7 })),
      s3: optional(s3),
    }),
  ),
  quotaBytes: optional(
    integer({
      doc: "How large the data may grow before etcd takes no more writes; 2 GiB unless set.",
      minimum: 16_777_216,
      maximum: 8_589_934_592,
      format: "int64",
    }),
  ),
  defragment: optional(
    object({
      schedule: optional(
        string({ doc: "When to give unused space back: five fields of cron, in UTC.", maxLength: 64 }),
      ),
      unusedPercent: optional(
        integer({
          doc: "Also when this much of the data's files is unused; 50 unless set.",
          minimum: 10,
          maximum: 100,
        }),
      ),
    }),
  ),
  restoreFrom: optional(
    object({
      backup: string({ doc: "Name of the backup, such as `20261116T030000Z`.", maxLength: 128 }),
      controlPlane: optional(
        string({
          doc: "The HostedControlPlane of this namespace that the backup was made of, when it is another one.",
          pattern: OBJECT_NAME,
          maxLength: 253,
        }),
      ),
    }),
  ),
  extraArgs: optional(array(argument, { maxItems: 100 })),
});

const rotation = object({
  phase: string({
    doc: "How far to rotate: `Trust` makes new authorities and has them trusted beside the old, `Issue` has everything issued by the new, `Retire` ends the trust in the old. One after the other; condition AuthoritiesCurrent says what to do between them.",
    enum: ["Trust", "Issue", "Retire"],
  }),
  authorities: optional(
    array(string({ enum: ["Cluster", "Etcd", "FrontProxy", "ServiceAccount"] }), {
      doc: "Which ones; all when empty.",
      listType: "set",
      maxItems: 4,
    }),
  ),
});

const addon = object({ enabled: optional(boolean({ doc: "false leaves it out.", default: true })) });

const toleration = object({
  key: optional(string({ maxLength: 316 })),
  operator: optional(string({ enum: ["Exists", "Equal"] })),
  value: optional(string({ maxLength: 63 })),
  effect: optional(string({ enum: ["NoSchedule", "PreferNoSchedule", "NoExecute"] })),
  tolerationSeconds: optional(integer({ format: "int64" })),
});

const pods = object(
  {
    nodeSelector: optional(map(string({ maxLength: 63 }))),
    tolerations: optional(array(toleration, { maxItems: 50 })),
    priorityClassName: optional(string({ maxLength: 253 })),
    imagePullSecrets: optional(
      array(string({ maxLength: 253 }), { doc: "Names of Secrets in the host cluster.", maxItems: 20 }),
    ),
  },
  { doc: "Pods: which nodes of the host cluster they may run on, and how they get their images." },
);

/** What a class of control planes can say of each: all but the version, the size and the address. */
const sharedFields = {
  placement: optional(
    object(
      { type: string({ doc: "Where it runs.", enum: ["Pods", "Process", "Embedded"] }) },
      {
        doc: "Where the components run. The default is a flag of the manager.",
        rules: [
          {
            rule: "self == oldSelf",
            message: "placement is immutable: make a new control plane and restore a backup into it",
          },
        ],
      },
    ),
  ),
  hostCluster: optional(
    object({
      secretName: string({
        doc: "Secret with the kubeconfig (key `value`) of the cluster that runs the pods.",
        pattern: OBJECT_NAME,
        maxLength: 253,
      }),
    }),
  ),
  pods: optional(pods),
  expose: optional(
    object({
      type: optional(string({ doc: "Pods: how the API is reached.", enum: ["LoadBalancer", "NodePort", "ClusterIP"] })),
      bindAddress: optional(string({ doc: "Process: address to listen on.", maxLength: 64 })),
      certSANs: optional(
        array(string({ maxLength: 253 }), {
          doc: "More names and addresses for the serving certificate.",
          maxItems: 100,
        }),
      ),
    }),
  ),
  etcd: optional(etcd),
  apiServer: optional(apiServer),
  controllerManager: optional(component),
  scheduler: optional(component),
  certificates: optional(
    object({
      encryptionAlgorithm: optional(string({ enum: ["ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"] })),
      rotation: optional(rotation),
    }),
  ),
  addons: optional(
    object({
      coreDNS: optional(addon),
      kubeProxy: optional(
        object({
          enabled: optional(boolean({ default: true })),
          mode: optional(string({ enum: ["iptables", "nftables"] })),
        }),
      ),
      konnectivity: optional(object({ mode: optional(string({ enum: ["Auto", "On", "Off"] })) })),
    }),
  ),
  imageRepository: optional(
    string({ doc: "Where images of add-ons (and of Pods) come from.", default: "registry.k8s.io", maxLength: 255 }),
  ),
};

const spec = object(
  {
    version: string({
      doc: "Kubernetes version. Up by at most one minor, never down.",
      pattern: KUBERNETES_VERSION_PATTERN,
      maxLength: 64,
    }),
    replicas: optional(
      integer({
        doc: "kube-apiservers. 0 hibernates the control plane; its data is kept.",
        minimum: 0,
        maximum: 9,
        default: 1,
      }),
    ),
    controlPlaneEndpoint: optional(endpoint),
    ...sharedFields,
  },
  {
    rules: [
      {
        rule: "(has(self.etcd) && has(self.etcd.shared)) == (has(oldSelf.etcd) && has(oldSelf.etcd.shared))",
        message: "etcd.shared can be neither added nor removed: make a new control plane",
      },
    ],
  },
);

const versionCount = object({ version: string({ maxLength: 64 }), replicas: integer({ minimum: 0 }) });

const status = object({
  conditions: optional(array(condition, { listType: "map", keys: ["type"], maxItems: 32 })),
  initialization: optional(
    object({ controlPlaneInitialized: optional(boolean({ doc: "True once workers may join; never goes back." })) }),
  ),
  externalManagedControlPlane: optional(
    boolean({ doc: "Always true: there are no control plane Machines nor Nodes." }),
  ),
  version: optional(string({ maxLength: 64 })),
  versions: optional(array(versionCount, { maxItems: 10 })),
  selector: optional(string({ maxLength: 4096 })),
  replicas: optional(integer({ minimum: 0 })),
  readyReplicas: optional(integer({ minimum: 0 })),
  availableReplicas: optional(integer({ minimum: 0 })),
  upToDateReplicas: optional(integer({ minimum: 0 })),
  backup: optional(
    object({
      lastName: optional(string({ doc: "Name for `spec.etcd.restoreFrom.backup`.", maxLength: 128 })),
      lastTime: optional(string({ maxLength: 64 })),
      lastSizeBytes: optional(integer({ minimum: 0, format: "int64" })),
      count: optional(integer({ minimum: 0 })),
      location: optional(string({ maxLength: 1024 })),
      nextTime: optional(string({ maxLength: 64 })),
    }),
  ),
  observedGeneration: optional(integer({ minimum: 1, format: "int64" })),
});

/** Desired state of a HostedControlPlane. */
export type HostedControlPlaneSpec = Infer<typeof spec>;

/** Schema of the part of the spec that a HostedControlPlaneTemplate can set. */
export const classSpec: Schema<Omit<HostedControlPlaneSpec, "version" | "replicas" | "controlPlaneEndpoint">> =
  object(sharedFields);

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
