import { isTrue, type Unstructured } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import {
  array,
  boolean,
  Cluster,
  condition,
  conditionsOf,
  defineKind,
  indexCustomResourceDefinitions,
  integer,
  kindAdmissionPlugins,
  type ObjectOf,
  object,
  optional,
  string,
} from "@capstan/capi";
import { contractCases } from "@capstan/capi/contract-suite";
import { type Cache, Client, type Controller, controller, done } from "@capstan/runtime";
import { describe, test } from "vitest";
import { MetaCluster } from "./kinds/meta-cluster.ts";
import { addMetaIndexes, metaControllers } from "./running.ts";

/** A child of a MetaCluster that knows no more than the contract. */
const PartCluster = defineKind({
  group: "infrastructure.cluster.x-k8s.io",
  version: "v1beta2",
  kind: "PartCluster",
  plural: "partclusters",
  doc: "A part of a cluster.",
  contracts: { v1beta2: "v1beta2" },
  schema: object({
    spec: optional(
      object({ controlPlaneEndpoint: optional(object({ host: optional(string()), port: optional(integer()) })) }),
    ),
    status: optional(
      object({
        initialization: optional(object({ provisioned: optional(boolean()) })),
        conditions: optional(array(condition)),
      }),
    ),
  }),
});
type PartCluster = ObjectOf<typeof PartCluster>;

/** Provisions what a Cluster owns, at once. */
function partController(): Controller {
  return controller("part-cluster")
    .for(PartCluster)
    .reconcile(async (request, context) => {
      const part = context.cache.get(PartCluster, request);
      const owned = part?.metadata.ownerReferences?.some(({ kind }) => kind === Cluster.kind) === true;
      if (part === undefined || !owned || isTrue(conditionsOf(part), "Ready")) return done();
      const ready = {
        type: "Ready",
        status: "True",
        reason: "Ready",
        message: "",
        lastTransitionTime: "2026-01-01T00:00:00Z",
      };
      await context.client.patchStatus(part, {
        status: { initialization: { provisioned: true }, conditions: [ready] },
      });
      return done();
    });
}

const metaProvider = () => ({
  name: "meta",
  kinds: [MetaCluster, PartCluster],
  addIndexes: (cache: Cache) => {
    indexCustomResourceDefinitions(cache);
    addMetaIndexes(cache);
  },
  controllers: () => [...metaControllers(), partController()],
});

const reference = (name: string): object => ({ apiGroup: PartCluster.group, kind: PartCluster.kind, name });

let client: Client | undefined;
const cases = contractCases({
  startApi: async ({ clock, random, crds }) => {
    const admission = kindAdmissionPlugins([MetaCluster]);
    const server = await createApiServer({ store: memoryStore(), clock, random, admission });
    await server.registerCrds(crds);
    client = new Client(server.admin(), { fieldManager: "test", clock });
    return { transport: server.admin(), close: () => server.close() };
  },
  createWorld: async () => ({
    provider: metaProvider,
    // The parts are all there is outside of a MetaCluster.
    leftovers: async () => ((await client?.list(PartCluster))?.items ?? []).map(({ metadata }) => metadata.name ?? ""),
  }),
  cluster: (name) => ({
    apiVersion: MetaCluster.apiVersion,
    kind: MetaCluster.kind,
    metadata: { name },
    spec: {
      controlPlaneEndpoint: { host: "h", port: 6443 },
      infrastructureRefs: [reference(`${name}-a`), { ...reference(`${name}-b`), controlPlane: true }],
    },
  }),
  beside: (name) =>
    ["a", "b"].map(
      (part): Unstructured => ({
        apiVersion: PartCluster.apiVersion,
        kind: PartCluster.kind,
        metadata: { name: `${name}-${part}` },
        spec: {},
      }),
    ),
});

describe("infrastructure cluster contract", () => {
  for (const { name, run } of cases) test(name, run);
});
