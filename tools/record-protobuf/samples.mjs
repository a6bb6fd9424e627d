/** Objects that use what is rare: inlined structs, int-or-string, quantities, every kind of volume source, a CRD's schema. */
const everything = {
  serviceAccountName: "default",
  hostNetwork: false,
  terminationGracePeriodSeconds: 0,
  securityContext: {
    runAsUser: 0,
    fsGroup: 5,
    supplementalGroups: [1, 4294967296 - 2147483649],
    sysctls: [{ name: "net.x", value: "" }],
  },
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: "k", operator: "In", values: ["a"] }] }],
      },
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 7, preference: { matchFields: [{ key: "metadata.name", operator: "NotIn", values: ["n"] }] } },
      ],
    },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { labelSelector: { matchLabels: { a: "b" } }, topologyKey: "zone" } },
      ],
    },
  },
  tolerations: [{ key: "t", operator: "Exists", effect: "NoExecute", tolerationSeconds: 0 }],
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" }],
  hostAliases: [{ ip: "10.0.0.1", hostnames: ["h"] }],
  dnsConfig: { nameservers: ["1.1.1.1"], options: [{ name: "ndots", value: "2" }, { name: "debug" }] },
  volumes: [
    { name: "empty", emptyDir: {} },
    { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Gi" } },
    { name: "host", hostPath: { path: "/x", type: "" } },
    {
      name: "secret",
      secret: { secretName: "s", defaultMode: 256, optional: false, items: [{ key: "k", path: "p", mode: 0 }] },
    },
    { name: "map", configMap: { name: "c", optional: true } },
    { name: "claim", persistentVolumeClaim: { claimName: "c", readOnly: true } },
    { name: "nfs", nfs: { server: "s", path: "/" } },
    { name: "down", downwardAPI: { items: [{ path: "l", fieldRef: { fieldPath: "metadata.labels" } }] } },
    {
      name: "projected",
      projected: {
        sources: [
          { serviceAccountToken: { audience: "a", expirationSeconds: 3600, path: "token" } },
          { configMap: { name: "c" } },
          {
            downwardAPI: {
              items: [{ path: "m", resourceFieldRef: { containerName: "main", resource: "limits.cpu" } }],
            },
          },
        ],
      },
    },
    {
      name: "ephemeral",
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { a: "b" } },
          spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1.5Gi" } } },
        },
      },
    },
  ],
  initContainers: [{ name: "init", image: "i", restartPolicy: "Always" }],
  containers: [
    {
      name: "main",
      image: "i",
      command: ["a", ""],
      ports: [
        { containerPort: 80, hostIP: "" },
        { name: "dns", containerPort: 53, protocol: "UDP" },
      ],
      env: [
        { name: "EMPTY", value: "" },
        { name: "FIELD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "SECRET", valueFrom: { secretKeyRef: { name: "s", key: "k", optional: true } } },
        { name: "CPU", valueFrom: { resourceFieldRef: { resource: "limits.cpu", divisor: "1m" } } },
      ],
      envFrom: [{ prefix: "P_", configMapRef: { name: "c" } }, { secretRef: { name: "s", optional: false } }],
      resources: { limits: { cpu: "1500m", memory: "1Gi" }, requests: { cpu: "0" } },
      livenessProbe: {
        httpGet: { path: "/", port: "dns", httpHeaders: [{ name: "H", value: "v" }] },
        periodSeconds: 3,
      },
      readinessProbe: { tcpSocket: { port: 80 } },
      startupProbe: { grpc: { port: 9, service: "" }, terminationGracePeriodSeconds: 5 },
      lifecycle: { preStop: { exec: { command: ["x"] } }, postStart: { httpGet: { port: 80 } } },
      securityContext: { privileged: false, runAsNonRoot: true, capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] } },
      volumeMounts: [{ name: "empty", mountPath: "/e", subPath: "" }],
      stdin: true,
    },
  ],
};

const schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "number", minimum: 0, maximum: 10.5, default: 3, multipleOf: 1, exclusiveMaximum: false },
        mode: { type: "string", enum: ["a", "b"], default: "a", minLength: 0, pattern: "^[a-z]*$", nullable: true },
        port: { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        labels: { type: "object", additionalProperties: { type: "string" } },
        empty: { type: "object", additionalProperties: { type: "object" }, default: {} },
        list: {
          type: "array",
          items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          maxItems: 5,
        },
      },
      "x-kubernetes-validations": [{ rule: "self.size < 9", message: "small", reason: "FieldValueInvalid" }],
    },
    status: { type: "object" },
  },
};

export const extraSamples = [
  { path: "v1/pods", body: { metadata: { name: "everything" }, spec: everything } },
  {
    path: "apps/v1/deployments",
    body: {
      metadata: { name: "rolling" },
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: "b" } },
        strategy: { rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    },
  },
  {
    path: "apiextensions.k8s.io/v1/customresourcedefinitions",
    body: {
      metadata: { name: "things.proto.example.dev" },
      spec: {
        group: "proto.example.dev",
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing", shortNames: ["th"], categories: ["all"] },
        conversion: {
          strategy: "Webhook",
          webhook: {
            conversionReviewVersions: ["v1"],
            clientConfig: { service: { namespace: "a", name: "b", path: "/c", port: 444 } },
          },
        },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schema },
            subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
            additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size", priority: 1 }],
            selectableFields: [{ jsonPath: ".spec.mode" }],
          },
          {
            name: "v1beta1",
            served: false,
            storage: false,
            deprecated: true,
            schema: { openAPIV3Schema: { type: "object" } },
          },
        ],
      },
    },
  },
];
