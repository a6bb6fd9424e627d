import { findCondition, type Unstructured } from "@capstan/apimachinery";
import { conditionsOf, Machine } from "@capstan/capi";
import { MetaCluster } from "@capstan/infra-meta";
import { afterEach, expect, test, vi } from "vitest";
import { cluster, infraCluster, metaCluster, workers } from "./manifests.ts";
import { Plane } from "./plane.ts";

vi.setConfig({ testTimeout: 120_000 });

const LAMP = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: "lampclusters.infrastructure.cluster.x-k8s.io",
    labels: { "cluster.x-k8s.io/v1beta2": "v1" },
  },
  spec: {
    group: "infrastructure.cluster.x-k8s.io",
    scope: "Namespaced",
    names: { kind: "LampCluster", listKind: "LampClusterList", plural: "lampclusters", singular: "lampcluster" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  controlPlaneEndpoint: {
                    type: "object",
                    properties: { host: { type: "string" }, port: { type: "integer" } },
                  },
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

/** What every provider installs: permissions for the manager on its kinds. */
const LAMP_ROLE = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "lamp-kinds", labels: { "cluster.x-k8s.io/aggregate-to-manager": "true" } },
  rules: [
    {
      apiGroups: ["infrastructure.cluster.x-k8s.io"],
      resources: ["lampclusters", "lampclusters/status"],
      verbs: ["get", "list", "patch", "update", "watch", "delete"],
    },
  ],
};

let plane: Plane;

afterEach(() => plane.close());

test("a MetaCluster takes a foreign infrastructure cluster that it knows through the contract alone", async () => {
  plane = await Plane.start({ own: 0, metal: 1, mayBeRefused: /lampclusters/ });
  await plane.client.create(LAMP);
  await plane.pass(2_000);
  await plane.apply(
    cluster("c1", "MetaCluster") +
      metaCluster("c1", ["LampCluster", "Metal3Cluster"]) +
      infraCluster("metal3", "c1") +
      workers("c1", "metal3", 1),
  );
  const lamp = { apiVersion: "infrastructure.cluster.x-k8s.io/v1", kind: "LampCluster" };
  const metadata = { name: "c1", namespace: "default" };
  const created = await plane.client.create({ ...lamp, metadata, spec: {} } as Unstructured);
  await plane.pass(20_000);
  const waiting = conditionsOf(await plane.get(MetaCluster, "c1"));
  expect(findCondition(waiting, "InfrastructuresReady")?.message).toContain("aggregate-to-manager=true");
  await plane.client.create(LAMP_ROLE as Unstructured);
  await plane.pass(60_000);
  expect((await plane.get(MetaCluster, "c1")).status?.initialization?.provisioned).not.toBe(true);
  expect((await plane.list(Machine)).filter(({ spec }) => spec.providerID !== undefined)).toEqual([]);
  await plane.client.patchStatus(created, { status: { initialization: { provisioned: true } } });
  await plane.available("c1", 1);
  const seen = await plane.client.get(
    { ...lamp, group: "infrastructure.cluster.x-k8s.io", version: "v1", plural: "lampclusters", namespaced: true },
    metadata,
  );
  expect(seen?.metadata.ownerReferences?.map(({ kind }) => kind).sort()).toEqual(["Cluster", "MetaCluster"]);
});
