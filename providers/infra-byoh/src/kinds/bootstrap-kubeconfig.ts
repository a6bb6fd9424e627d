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
        doc: "CA bundle that the host trusts, as base64 of PEM.",
        minLength: 1,
        maxLength: 65536,
      }),
      "insecure-skip-tls-verify": optional(boolean({ doc: "Must be false: a host must verify the management API." })),
      hostName: optional(
        string({
          doc: "Name of the host that may use it; defaults to the name of this object.",
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
            doc: "Kubeconfig for capstan-host-agent --bootstrap-kubeconfig; removed once it was used or has expired.",
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
  doc: "A request for a kubeconfig with which a host enrols. Users who may read these objects can enrol the hosts they name.",
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
