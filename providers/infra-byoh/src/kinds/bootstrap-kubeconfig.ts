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
  time,
  v1beta1,
} from "@capstan/capi";

const schema = object({
  spec: object(
    {
      apiserver: string({
        doc: "Address of the management API as the host reaches it, with its port.",
        pattern: "^https://[^/]+:[0-9]+/?$",
        maxLength: 512,
      }),
      "certificate-authority-data": string({
        doc: "Base64 of the PEM that the host trusts.",
        minLength: 1,
        maxLength: 65536,
      }),
      "insecure-skip-tls-verify": optional(boolean({ doc: "Only false: a host must know whom it talks to." })),
      hostName: optional(
        string({
          doc: "The one host it is good for; the name of this object unless said.",
          pattern: "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
          maxLength: 253,
        }),
      ),
    },
    { doc: "Desired state of the BootstrapKubeconfig." },
  ),
  status: optional(
    object(
      {
        bootstrapKubeconfigData: optional(
          string({
            doc: "For capstan-host-agent --bootstrap-kubeconfig; gone once it was used or is too old.",
            maxLength: 262144,
          }),
        ),
        expiresAt: optional(time({ doc: "Time when the token expires." })),
        tokenID: optional(string({ doc: "Name of its token, without the secret part.", maxLength: 6 })),
        conditions: optional(
          array(condition, {
            doc: "Conditions of the BootstrapKubeconfig.",
            listType: "map",
            keys: ["type"],
            maxItems: 32,
          }),
        ),
      },
      { doc: "Observed state of the BootstrapKubeconfig." },
    ),
  ),
});

/** Requests a kubeconfig that one host can enrol with once, as an alternative to `capstan host add`. */
export const BootstrapKubeconfig = defineKind({
  group: INFRASTRUCTURE_GROUP,
  version: "v1beta2",
  kind: "BootstrapKubeconfig",
  plural: "bootstrapkubeconfigs",
  doc: "Asks for a kubeconfig that a host enrols with. Whoever may read these objects can enrol the host they name.",
  contracts: { v1beta1: "v1beta1", v1beta2: "v1beta2" },
  schema,
  columns: [
    { name: "Host", type: "string", jsonPath: ".spec.hostName" },
    { name: "Ready", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: "Reason", type: "string", jsonPath: ".status.conditions[?(@.type=='Ready')].reason" },
    { name: "Expires", type: "date", jsonPath: ".status.expiresAt" },
  ],
  others: [v1beta1(INFRASTRUCTURE_GROUP, "BootstrapKubeconfig", schema, { rules: OLD_CONDITIONS, columns: [] })],
});
export type BootstrapKubeconfig = ObjectOf<typeof BootstrapKubeconfig>;
