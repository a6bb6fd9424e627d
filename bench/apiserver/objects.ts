/** The objects the bench creates: a ConfigMap of 1 KiB and a Cluster API-like custom resource of 3 KiB. */
export const GROUP = "bench.capstan.dev";

export function configMap(name: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default", labels: { bench: "yes", half: name.endsWith("0") ? "a" : "b" } },
    data: { payload: "x".repeat(850) },
  });
}

const condition = (type: string): object => ({
  type,
  status: "True",
  reason: "Ready",
  message: "all is well",
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

export function machine(name: string): string {
  return JSON.stringify({
    apiVersion: `${GROUP}/v1`,
    kind: "BenchMachine",
    metadata: {
      name,
      namespace: "default",
      labels: { "cluster.x-k8s.io/cluster-name": "c1", "cluster.x-k8s.io/set-name": "set-1", bench: "yes" },
      annotations: { note: "n".repeat(400) },
    },
    spec: {
      clusterName: "c1",
      version: "v1.37.1",
      bootstrap: {
        configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name },
        dataSecretName: name,
      },
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "DevMachine", name },
      failureDomain: "zone-1",
      minReadySeconds: 10,
      taints: Array.from({ length: 8 }, (_, i) => ({
        key: `example.dev/key-${i}`,
        value: "v".repeat(20),
        effect: "NoSchedule",
      })),
      conditions: ["Ready", "Available", "UpToDate", "NodeHealthy", "InfrastructureReady", "BootstrapConfigReady"].map(
        condition,
      ),
      files: Array.from({ length: 5 }, (_, i) => ({
        path: `/etc/file-${i}`,
        permissions: "0644",
        content: "c".repeat(120),
      })),
    },
  });
}

const text = { type: "string", maxLength: 256 };
const reference = {
  type: "object",
  required: ["apiGroup", "kind", "name"],
  properties: {
    apiGroup: text,
    kind: { ...text, pattern: "^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$" },
    name: { ...text, minLength: 1 },
  },
};

/** With schema, CEL rules and list types, as Cluster API's kinds have them. */
export function benchCrd(plural: string, kind: string): object {
  const list = (item: object, key: string, maxItems: number): object => ({
    type: "array",
    maxItems,
    items: item,
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": [key],
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: "object",
              required: ["spec"],
              properties: {
                apiVersion: { type: "string" },
                kind: { type: "string" },
                metadata: { type: "object" },
                spec: {
                  type: "object",
                  required: ["clusterName", "bootstrap", "infrastructureRef"],
                  "x-kubernetes-validations": [
                    {
                      rule: "!has(self.failureDomain) || self.failureDomain.size() > 0",
                      message: "failureDomain must not be empty",
                    },
                    {
                      rule: "has(self.bootstrap.configRef) || has(self.bootstrap.dataSecretName)",
                      message: "bootstrap needs a source",
                    },
                  ],
                  properties: {
                    clusterName: {
                      type: "string",
                      minLength: 1,
                      maxLength: 63,
                      "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "immutable" }],
                    },
                    version: { ...text, pattern: "^v[0-9]+\\.[0-9]+\\.[0-9]+" },
                    bootstrap: { type: "object", properties: { configRef: reference, dataSecretName: text } },
                    infrastructureRef: reference,
                    failureDomain: text,
                    minReadySeconds: { type: "integer", format: "int32", minimum: 0 },
                    paused: { type: "boolean", default: false },
                    taints: list(
                      {
                        type: "object",
                        required: ["key", "effect"],
                        properties: {
                          key: text,
                          value: text,
                          effect: { type: "string", enum: ["NoSchedule", "PreferNoSchedule", "NoExecute"] },
                        },
                      },
                      "key",
                      64,
                    ),
                    conditions: list(
                      {
                        type: "object",
                        required: ["type", "status"],
                        properties: {
                          type: text,
                          status: { type: "string", enum: ["True", "False", "Unknown"] },
                          reason: text,
                          message: { type: "string", maxLength: 4096 },
                          lastTransitionTime: { type: "string", format: "date-time" },
                        },
                      },
                      "type",
                      32,
                    ),
                    files: list(
                      {
                        type: "object",
                        required: ["path"],
                        properties: { path: text, permissions: text, content: { type: "string", maxLength: 10240 } },
                      },
                      "path",
                      200,
                    ),
                  },
                },
                status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
              },
            },
          },
        },
      ],
    },
  };
}
