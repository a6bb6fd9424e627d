import { document, fields, integer, list, mapOf, oneOf, type Shape, text, yesOrNo } from "./shape.ts";

const stages = list(oneOf("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"));

/** Shape of `--audit-policy-file`. */
export const AUDIT_POLICY: Shape = document("Policy", ["audit.k8s.io/v1"], {
  metadata: fields({ name: text(), labels: mapOf(text()), annotations: mapOf(text()) }),
  omitStages: stages,
  omitManagedFields: yesOrNo,
  rules: list(
    fields({
      level: oneOf("None", "Metadata", "Request", "RequestResponse"),
      users: list(text()),
      userGroups: list(text()),
      verbs: list(text()),
      resources: list(fields({ group: text(), resources: list(text()), resourceNames: list(text()) })),
      namespaces: list(text()),
      nonResourceURLs: list(text()),
      omitStages: stages,
      omitManagedFields: yesOrNo,
    }),
  ),
});

const claim = { claim: text(), expression: text() };
const https = text(/^https:\/\//, "an address that begins with https://");

/** Shape of `--authentication-config`. */
export const AUTHENTICATION: Shape = document(
  "AuthenticationConfiguration",
  ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version}`),
  {
    anonymous: fields({ enabled: yesOrNo, conditions: list(fields({ path: text() })) }),
    jwt: list(
      fields({
        issuer: fields({
          url: https,
          discoveryURL: https,
          certificateAuthority: text(),
          audiences: list(text()),
          audienceMatchPolicy: text(),
          egressSelectorType: oneOf("controlplane", "cluster"),
        }),
        claimValidationRules: list(
          fields({ claim: text(), requiredValue: text(), expression: text(), message: text() }),
        ),
        claimMappings: fields({
          username: fields({ ...claim, prefix: text() }),
          groups: fields({ ...claim, prefix: text() }),
          uid: fields(claim),
          extra: list(fields({ key: text(), valueExpression: text() })),
        }),
        userValidationRules: list(fields({ expression: text(), message: text() })),
      }),
    ),
  },
);

/** Shape of `--tracing-config-file`. Endpoints that gRPC would not treat as a host name, such as a socket, are rejected. */
export const TRACING: Shape = document(
  "TracingConfiguration",
  ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version}`),
  {
    endpoint: text(
      /^(?!(?:unix|unix-abstract|vsock|passthrough|dns|xds|google-c2p):)(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+):[0-9]{1,5}$/i,
      "HOST:PORT",
    ),
    samplingRatePerMillion: integer,
  },
);

/** Shape of a line of `--authorization-policy-file`. */
export const ABAC_RULE: Shape = document("Policy", ["abac.authorization.kubernetes.io/v1beta1"], {
  spec: fields({
    user: text(),
    group: text(),
    readonly: yesOrNo,
    apiGroup: text(),
    resource: text(),
    namespace: text(),
    nonResourcePath: text(),
  }),
});

/** Shape of `--allow-metric-labels-manifest` of every component. */
export const METRIC_LABELS: Shape = mapOf(text());
