/** A kind with a schema, a rule and a scale. */
const CRD = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gears.faults.example" },
  spec: {
    group: "faults.example",
    scope: "Namespaced",
    names: { plural: "gears", kind: "Gear" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                "x-kubernetes-validations": [{ rule: "self.replicas < 10" }],
                properties: {
                  replicas: { type: "integer", default: 1 },
                  text: { type: "string", pattern: "^(a|aa)+$|x" },
                  list: {
                    type: "array",
                    maxItems: 100,
                    items: { type: "object", properties: { a: { type: "integer" } } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** The targets of malformed requests, in order of creation; some servers create some of them themselves. */
export const MALFORMED_FIXTURES: readonly { readonly path: string; readonly body: object }[] = [
  { path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: CRD },
  {
    path: "/apis/faults.example/v1/namespaces/default/gears",
    body: { apiVersion: "faults.example/v1", kind: "Gear", metadata: { name: "g" }, spec: {} },
  },
  {
    path: "/api/v1/namespaces/default/configmaps",
    body: { metadata: { name: "kube-root-ca.crt" }, data: { "ca.crt": "x" } },
  },
  { path: "/api/v1/namespaces/default/serviceaccounts", body: { metadata: { name: "default" } } },
];
