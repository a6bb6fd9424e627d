import { array, boolean, type Infer, integer, map, object, optional, string } from "../schema/schema.ts";
import { environment } from "./environment.ts";

/** Returns the schema of a non-empty list of non-empty strings with the given limits. */
export const texts = (doc: string, maxItems: number, maxLength: number) =>
  array(string({ minLength: 1, maxLength }), { doc, minItems: 1, maxItems });

/** Returns the schema of a component's command line arguments; each name may occur only once. */
export const args = (doc: string, field: "extraArgs" | "kubeletExtraArgs") =>
  array(
    object(
      {
        name: string({ doc: "The flag without leading dashes.", minLength: 1, maxLength: 256 }),
        value: string({ doc: "Its value.", maxLength: 1024 }),
      },
      { doc: "One command-line flag." },
    ),
    {
      doc,
      minItems: 1,
      maxItems: 100,
      listType: "map",
      keys: ["name", "value"],
      rules: [{ rule: "self.all(x, self.exists_one(y, x.name == y.name))", message: `${field} name must be unique` }],
    },
  );

const volumes = array(
  object(
    {
      name: string({ doc: "Name of the volume in the pod.", minLength: 1, maxLength: 512 }),
      hostPath: string({ doc: "Path on the host.", minLength: 1, maxLength: 512 }),
      mountPath: string({ doc: "Path in the pod.", minLength: 1, maxLength: 512 }),
      readOnly: optional(boolean({ doc: "Whether the pod may not write to it." })),
      pathType: optional(string({ doc: "What is expected at the host path." })),
    },
    { doc: "One host path that is mounted into the component." },
  ),
  { doc: "Host paths mounted into the component.", minItems: 1, maxItems: 100 },
);

const image = {
  imageRepository: optional(string({ doc: "Registry to pull the image from.", minLength: 1, maxLength: 512 })),
  imageTag: optional(string({ doc: "Tag of the image.", minLength: 1, maxLength: 256 })),
};

const component = {
  extraArgs: optional(args("Flags of the component.", "extraArgs")),
  extraVolumes: optional(volumes),
  extraEnvs: optional(environment),
};

const names = (doc: string) => optional(texts(doc, 100, 253));

const localEtcd = object(
  {
    ...image,
    dataDir: optional(string({ doc: "Data directory of etcd.", minLength: 1, maxLength: 512 })),
    extraArgs: optional(args("Flags of etcd.", "extraArgs")),
    extraEnvs: optional(environment),
    serverCertSANs: names("More names for etcd's serving certificate."),
    peerCertSANs: names("More names for etcd's peer certificate."),
  },
  { doc: "An etcd member on each control plane node.", minProperties: 1 },
);

const externalEtcd = object(
  {
    endpoints: texts("Addresses of the members.", 50, 512),
    caFile: string({ doc: "CA file for etcd on the node.", minLength: 1, maxLength: 512 }),
    certFile: string({ doc: "Client certificate file on the node.", minLength: 1, maxLength: 512 }),
    keyFile: string({ doc: "Client key file on the node.", minLength: 1, maxLength: 512 }),
  },
  { doc: "An existing etcd cluster." },
);

/** Schema of kubeadm's ClusterConfiguration, without the fields that come from Cluster and Machine. */
export const clusterConfiguration = object(
  {
    etcd: optional(
      object(
        { local: optional(localEtcd), external: optional(externalEtcd) },
        { doc: "The etcd of the cluster: either local or external; local by default.", minProperties: 1 },
      ),
    ),
    controlPlaneEndpoint: optional(
      string({ doc: "host:port of the API; the Cluster's endpoint if absent.", minLength: 1, maxLength: 512 }),
    ),
    apiServer: optional(
      object(
        { ...component, certSANs: names("More names for kube-apiserver's certificate.") },
        { doc: "Additional settings of kube-apiserver.", minProperties: 1 },
      ),
    ),
    controllerManager: optional(
      object(component, { doc: "Additional settings of kube-controller-manager.", minProperties: 1 }),
    ),
    scheduler: optional(object(component, { doc: "Additional settings of kube-scheduler.", minProperties: 1 })),
    dns: optional(object(image, { doc: "Image of the DNS add-on, CoreDNS.", minProperties: 1 })),
    certificatesDir: optional(string({ doc: "Folder of certificates on the node.", minLength: 1, maxLength: 512 })),
    imageRepository: optional(string({ doc: "Registry of all images.", minLength: 1, maxLength: 512 })),
    featureGates: optional(map(boolean(), { doc: "kubeadm's feature gates." })),
    certificateValidityPeriodDays: optional(
      integer({ doc: "Validity of certificates that kubeadm issues.", minimum: 1, maximum: 1095 }),
    ),
    caCertificateValidityPeriodDays: optional(integer({ doc: "Validity of created CAs.", minimum: 1, maximum: 36500 })),
    encryptionAlgorithm: optional(
      string({
        doc: "Algorithm of created keys; requires Kubernetes 1.31.",
        enum: ["ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096"],
      }),
    ),
  },
  { doc: "Settings of the whole control plane, for kubeadm init.", minProperties: 1 },
);

/** kubeadm's ClusterConfiguration, without the fields that come from Cluster and Machine. */
export type ClusterConfiguration = Infer<typeof clusterConfiguration>;
