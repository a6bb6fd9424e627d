import {
  array,
  boolean,
  condition,
  defineKind,
  INFRASTRUCTURE_GROUP,
  type ObjectOf,
  OLD_CONDITIONS,
  object,
  optional,
  string,
  templateKind,
  v1beta1,
} from "@capstan/capi";

const fields = {
  bundleRepo: string({
    doc: "Where the parts are: a folder on the host, or an http:// or https:// mirror laid out as dl.k8s.io/release.",
    minLength: 1,
    maxLength: 2048,
  }),
  bundleType: optional(string({ doc: "Always k8s.", maxLength: 63 })),
  files: optional(
    array(
      object(
        {
          name: string({ doc: "Path below bundleRepo.", minLength: 1, maxLength: 1024 }),
          path: string({
            doc: "Path on the host; a folder if it is unpacked.",
            pattern: "^/",
            maxLength: 1024,
          }),
          sha256: string({ doc: "SHA-256 checksum of the file.", pattern: "^[0-9a-f]{64}$" }),
          mode: optional(string({ doc: "File mode in octal; 0755 by default.", pattern: "^0?[0-7]{3}$" })),
          unpack: optional(boolean({ doc: "Whether the file is a .tar.gz to unpack into the folder." })),
        },
        { doc: "One file that is installed on the host." },
      ),
      {
        doc: "Files to install instead of kubeadm, kubelet and kubectl of the machine's version.",
        maxItems: 64,
      },
    ),
  ),
};

const secretRef = object(
  {
    name: string({ doc: "Name of the Secret.", maxLength: 253 }),
    namespace: optional(string({ doc: "Namespace of the Secret.", maxLength: 63 })),
    kind: optional(string({ doc: "Kind of the object, Secret.", maxLength: 63 })),
    apiVersion: optional(string({ doc: "API version of the Secret.", maxLength: 253 })),
  },
  { doc: "Reference to the Secret with the instructions for the installation." },
);

const schema = object({
  spec: object(fields, { doc: "Desired state of the K8sInstallerConfig." }),
  status: optional(
    object(
      {
        ready: optional(boolean({ doc: "Whether the Secret with the instructions exists." })),
        installationSecret: optional(secretRef),
        conditions: optional(
          array(condition, {
            doc: "Conditions of the K8sInstallerConfig.",
            listType: "map",
            keys: ["type"],
            maxItems: 32,
          }),
        ),
      },
      { doc: "Observed state of the K8sInstallerConfig." },
    ),
  ),
});

/** Describes where the Kubernetes binaries for the host of one ByoMachine come from. */
export const K8sInstallerConfig = defineKind({
  group: INFRASTRUCTURE_GROUP,
  version: "v1beta2",
  kind: "K8sInstallerConfig",
  plural: "k8sinstallerconfigs",
  doc: "The source of the Kubernetes programs for a machine's host; created from a template for each ByoMachine that references one.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  columns: [
    { name: "Repo", type: "string", jsonPath: ".spec.bundleRepo" },
    { name: "Ready", type: "boolean", jsonPath: ".status.ready" },
  ],
  others: [v1beta1(INFRASTRUCTURE_GROUP, "K8sInstallerConfig", schema, { rules: OLD_CONDITIONS, columns: [] })],
});
export type K8sInstallerConfig = ObjectOf<typeof K8sInstallerConfig>;

/** Template that a K8sInstallerConfig is created from for each ByoMachine whose installerRef names it. */
export const K8sInstallerConfigTemplate = templateKind({
  kind: "K8sInstallerConfigTemplate",
  doc: "A template of K8sInstallerConfigs.",
  spec: fields,
  alsoV1beta1: true,
});
