import { parseYamlDocuments, type Unstructured } from "@capstan/apimachinery";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CommandPlane, type CommandResult } from "./plane.ts";

let plane: CommandPlane;
beforeAll(async () => {
  plane = await CommandPlane.start();
});
afterAll(() => plane.stop());

const OLD = `
apiVersion: infrastructure.dippynark.co.uk/v1alpha3
kind: KubernetesCluster
metadata: { name: example, namespace: default }
spec: { controlPlaneServiceType: LoadBalancer }
---
apiVersion: infrastructure.dippynark.co.uk/v1alpha3
kind: KubernetesMachineTemplate
metadata: { name: example-controller, namespace: default }
spec:
  template:
    spec:
      allowRecreation: true
      kindImage: example.org/kind:1
      containers:
      - name: kind
        resources: { requests: { cpu: 1, memory: 2Gi } }
        volumeMounts: [{ name: var-lib-etcd, mountPath: /var/lib/etcd }]
      initContainers: []
      volumeClaimTemplates:
      - metadata: { name: var-lib-etcd, creationTimestamp: null }
        spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
        status: {}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: { name: example, namespace: default }
spec:
  infrastructureRef: { apiVersion: infrastructure.dippynark.co.uk/v1alpha3, kind: KubernetesCluster, name: example }
`;

const convert = (text: string): Promise<CommandResult> =>
  plane.run("convert -f -", { stdin: () => Promise.resolve(text) });

test("prints manifests of cluster-api-provider-kubernetes as ours, which the API accepts", async () => {
  const made = await convert(OLD);
  expect(made.code).toBe(0);
  const objects = parseYamlDocuments(made.out) as Unstructured[];
  expect(objects.map(({ apiVersion, spec }) => ({ apiVersion, spec }))).toEqual([
    {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      spec: { controlPlaneService: { type: "LoadBalancer" } },
    },
    {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
      spec: {
        template: {
          spec: {
            recreationPolicy: "Always",
            podTemplate: {
              spec: {
                containers: [
                  {
                    name: "kind",
                    resources: { requests: { cpu: 1, memory: "2Gi" } },
                    volumeMounts: [{ name: "var-lib-etcd", mountPath: "/var/lib/etcd" }],
                  },
                ],
              },
            },
            volumeClaimTemplates: [
              {
                metadata: { name: "var-lib-etcd" },
                spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
              },
            ],
          },
        },
      },
    },
    {
      apiVersion: "cluster.x-k8s.io/v1beta1",
      spec: {
        infrastructureRef: {
          apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
          kind: "KubernetesCluster",
          name: "example",
        },
      },
    },
  ]);
  for (const object of objects.slice(0, 2)) await plane.client.create(object, { dryRun: true });
});

test("names what has no counterpart", async () => {
  expect((await convert(OLD)).err).toBe(
    "warning: KubernetesMachineTemplate example-controller: spec.kindImage has no counterpart and is left out\n",
  );
});

test("takes the endpoint of v1alpha2 from the status", async () => {
  const made = await convert(`
apiVersion: infrastructure.dippynark.co.uk/v1alpha2
kind: KubernetesCluster
metadata: { name: example }
spec: {}
status: { apiEndpoints: [{ host: 192.0.2.1, port: 443 }], ready: true }
`);
  expect(parseYamlDocuments(made.out)[0]).toEqual({
    apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2",
    kind: "KubernetesCluster",
    metadata: { name: "example" },
    spec: { controlPlaneEndpoint: { host: "192.0.2.1", port: 443 } },
  });
});

test("says which groups it reads when there is nothing to convert", async () => {
  const made = await convert("apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n");
  expect(made.code).not.toBe(0);
  expect(made.err).toContain("groups that are read: infrastructure.dippynark.co.uk");
});
