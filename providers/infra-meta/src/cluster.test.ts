import { seededRandom, settle, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import {
  array,
  boolean,
  Cluster,
  condition,
  defineKind,
  failureDomain,
  indexCustomResourceDefinitions,
  integer,
  Machine,
  MachineDeployment,
  MachinePool,
  MachineSet,
  object,
  optional,
  string,
  WorkerPool,
  type WorkloadClusters,
} from "@capstan/capi";
import { addCoreIndexes, clusterController } from "@capstan/core";
import {
  Cache,
  Client,
  type RunningControllers,
  silentLogger,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MetaCluster } from "./kinds/meta-cluster.ts";
import { addMetaIndexes, metaControllers } from "./running.ts";

/** A foreign infrastructure cluster: seen only through the contract. */
function foreign(kind: string, withEndpoint: boolean) {
  const endpoint = optional(object({ host: optional(string()), port: optional(integer()) }));
  return defineKind({
    group: "infrastructure.cluster.x-k8s.io",
    version: "v1beta1",
    kind,
    plural: `${kind.toLowerCase()}s`,
    doc: "A foreign infrastructure cluster.",
    contracts: { v1beta2: "v1beta1" },
    schema: object({
      spec: optional(object({ ...(withEndpoint ? { controlPlaneEndpoint: endpoint } : {}), note: optional(string()) })),
      status: optional(
        object({
          initialization: optional(object({ provisioned: optional(boolean()) })),
          failureDomains: optional(array(failureDomain)),
          conditions: optional(array(condition)),
        }),
      ),
    }),
  });
}
const Alpha = foreign("AlphaCluster", true);
const Beta = foreign("BetaCluster", true);

const noWorkload: WorkloadClusters = {
  get: () => ({ state: "connecting", since: 0, error: "none" }),
  subscribe: () => () => undefined,
};

let clock: VirtualClock;
let server: ApiServer;
let client: Client;
let cache: Cache;
let stopping: AbortController;
let running: RunningControllers;

beforeEach(async () => {
  clock = new VirtualClock();
  const random = seededRandom(1);
  server = await createApiServer({ store: memoryStore(), clock, random });
  await server.registerCrds(
    [Cluster, Machine, MachineSet, MachineDeployment, MachinePool, WorkerPool, MetaCluster, Alpha, Beta].map((kind) =>
      kind.crd(),
    ),
  );
  client = new Client(server.admin(), { fieldManager: "user", clock });
  cache = new Cache(new Client(server.admin(), { fieldManager: "capstan", clock }), { clock, random });
  indexCustomResourceDefinitions(cache);
  addCoreIndexes(cache);
  addMetaIndexes(cache);
  stopping = new AbortController();
  running = startControllers(
    [clusterController(noWorkload), ...metaControllers()],
    { cache, clock, random, log: silentLogger, recorder: silentRecorder },
    stopping.signal,
  );
  await quiet();
});

afterEach(async () => {
  stopping.abort();
  await running.finished;
  await cache.stop();
  await server.close();
});

/** Lets everything that follows from what happened happen. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await clock.advance(50);
    await settle();
  }
}

const ref = (kind: string, more: object = {}): object => ({
  apiGroup: "infrastructure.cluster.x-k8s.io",
  kind,
  name: "c1",
  ...more,
});
const make = (apiVersion: string, kind: string, spec: object): Unstructured => ({
  apiVersion,
  kind,
  metadata: { name: "c1", namespace: "default" },
  spec,
});
const cluster = (spec: object = {}): Unstructured =>
  make("cluster.x-k8s.io/v1beta2", "Cluster", { infrastructureRef: ref("MetaCluster"), ...spec });
const meta = (refs: object[], spec: object = {}): Unstructured =>
  make("infrastructure.cluster.x-k8s.io/v1beta2", "MetaCluster", { infrastructureRefs: refs, ...spec });
const child = (kind: string, spec: object = {}): Unstructured =>
  make("infrastructure.cluster.x-k8s.io/v1beta1", kind, spec);

const key = { namespace: "default", name: "c1" };
const readMeta = async (): Promise<MetaCluster> => {
  const found = await client.get(MetaCluster, key);
  if (found === undefined) throw new Error("no MetaCluster");
  return found;
};
const readChild = (kind: typeof Alpha) => client.get(kind, key);
const provision = (kind: typeof Alpha, more: object = {}) =>
  client.patchStatus({ kind, ...key }, { status: { initialization: { provisioned: true }, ...more } });
const conditionOf = (object: MetaCluster, type: string) => object.status?.conditions?.find((c) => c.type === type);

const ENDPOINT = { host: "10.0.0.1", port: 6443 };

test("children are owned by both, get the endpoint, and all must be provisioned", async () => {
  for (const o of [
    cluster({ controlPlaneEndpoint: ENDPOINT }),
    meta([ref("AlphaCluster"), ref("BetaCluster")]),
    child("AlphaCluster"),
    child("BetaCluster"),
  ])
    await client.create(o);
  await quiet();
  const alpha = await readChild(Alpha);
  expect(alpha?.spec).toEqual({ controlPlaneEndpoint: ENDPOINT });
  expect(alpha?.metadata.labels).toEqual({ "cluster.x-k8s.io/cluster-name": "c1" });
  expect(alpha?.metadata.ownerReferences?.map((o) => [o.kind, o.controller])).toEqual(
    expect.arrayContaining([
      ["Cluster", undefined],
      ["MetaCluster", true],
    ]),
  );
  expect(conditionOf(await readMeta(), "InfrastructuresReady")).toMatchObject({
    status: "False",
    reason: "InfrastructuresNotReady",
  });
  await provision(Alpha);
  await quiet();
  expect((await readMeta()).status?.initialization).toBeUndefined();
  await provision(Beta);
  await quiet();
  const done = await readMeta();
  expect(done.status?.initialization).toEqual({ provisioned: true });
  expect(conditionOf(done, "Ready")).toMatchObject({ status: "True" });
  expect((await client.get(Cluster, key))?.status?.initialization?.infrastructureProvisioned).toBe(true);
});

test("an optional child is not waited for", async () => {
  for (const o of [
    cluster({ controlPlaneEndpoint: ENDPOINT }),
    meta([ref("AlphaCluster"), ref("BetaCluster", { optional: true })]),
    child("AlphaCluster"),
  ])
    await client.create(o);
  await provision(Alpha);
  await quiet();
  const found = await readMeta();
  expect(found.status?.initialization).toEqual({ provisioned: true });
  expect(found.status?.infrastructures).toMatchObject([
    { kind: "AlphaCluster", provisioned: true },
    { kind: "BetaCluster", provisioned: false, reason: "ObjectDoesNotExist" },
  ]);
});

test("the endpoint of the child marked controlPlane becomes everybody's, in any order of creation", async () => {
  const objects = [
    child("AlphaCluster", { controlPlaneEndpoint: ENDPOINT }),
    child("BetaCluster"),
    meta([ref("AlphaCluster", { controlPlane: true }), ref("BetaCluster")]),
    cluster(),
  ];
  for (const o of objects) await client.create(o);
  await provision(Alpha);
  await provision(Beta);
  await quiet();
  expect((await readChild(Beta))?.spec).toEqual({ controlPlaneEndpoint: ENDPOINT });
  expect((await client.get(Cluster, key))?.spec?.controlPlaneEndpoint).toEqual(ENDPOINT);
});

test("a child with another endpoint is named and never overwritten", async () => {
  const other = { host: "10.9.9.9", port: 6443 };
  for (const o of [
    cluster({ controlPlaneEndpoint: ENDPOINT }),
    meta([ref("AlphaCluster")]),
    child("AlphaCluster", { controlPlaneEndpoint: other }),
  ])
    await client.create(o);
  await quiet();
  expect((await readChild(Alpha))?.spec).toEqual({ controlPlaneEndpoint: other });
  const found = conditionOf(await readMeta(), "EndpointReady");
  expect(found).toMatchObject({ status: "False", reason: "EndpointMismatch" });
  expect(found?.message).toContain("AlphaCluster/c1 has 10.9.9.9:6443");
});

test("failure domains keep their names and say whose they are; a clash is a condition", async () => {
  for (const o of [
    cluster({ controlPlaneEndpoint: ENDPOINT }),
    meta([ref("AlphaCluster", { controlPlane: true }), ref("BetaCluster")]),
    child("AlphaCluster"),
    child("BetaCluster"),
  ])
    await client.create(o);
  await provision(Alpha, { failureDomains: [{ name: "rack-1", controlPlane: true }] });
  await provision(Beta, { failureDomains: [{ name: "zone-1", controlPlane: true }] });
  await quiet();
  expect((await readMeta()).status?.failureDomains).toEqual([
    { name: "rack-1", controlPlane: true, attributes: { "capstan.dev/infrastructure": "AlphaCluster/c1" } },
    { name: "zone-1", controlPlane: false, attributes: { "capstan.dev/infrastructure": "BetaCluster/c1" } },
  ]);
  await provision(Beta, { failureDomains: [{ name: "rack-1" }] });
  await quiet();
  expect(conditionOf(await readMeta(), "InfrastructuresReady")).toMatchObject({
    status: "False",
    reason: "FailureDomainClash",
  });
});

test("a provider that is not installed is a reason with a cure", async () => {
  for (const o of [cluster({ controlPlaneEndpoint: ENDPOINT }), meta([ref("GammaCluster")])]) await client.create(o);
  await quiet();
  expect((await readMeta()).status?.infrastructures).toMatchObject([
    { kind: "GammaCluster", reason: "ProviderNotInstalled" },
  ]);
});

test("deleting the Cluster deletes the children, the control plane's infrastructure last", async () => {
  const held = child("AlphaCluster");
  held.metadata.finalizers = ["example.dev/hold"];
  const heldBeta = child("BetaCluster");
  heldBeta.metadata.finalizers = ["example.dev/hold"];
  for (const o of [
    cluster({ controlPlaneEndpoint: ENDPOINT }),
    meta([ref("AlphaCluster", { controlPlane: true }), ref("BetaCluster")]),
    held,
    heldBeta,
  ])
    await client.create(o);
  await quiet();
  await client.delete({ kind: Cluster, ...key });
  await quiet();
  expect((await readChild(Beta))?.metadata.deletionTimestamp).toBeDefined();
  expect((await readChild(Alpha))?.metadata.deletionTimestamp).toBeUndefined();
  await client.patch({ kind: Beta, ...key }, { metadata: { finalizers: null } });
  await quiet();
  expect((await readChild(Alpha))?.metadata.deletionTimestamp).toBeDefined();
  await client.patch({ kind: Alpha, ...key }, { metadata: { finalizers: null } });
  await quiet();
  expect(await client.get(Cluster, key)).toBeUndefined();
  expect(await client.get(MetaCluster, key)).toBeUndefined();
});

test("a paused Cluster's children are left alone", async () => {
  for (const o of [
    cluster({ controlPlaneEndpoint: ENDPOINT, paused: true }),
    meta([ref("AlphaCluster")]),
    child("AlphaCluster"),
  ])
    await client.create(o);
  await quiet();
  expect((await readChild(Alpha))?.spec).toEqual({});
});
