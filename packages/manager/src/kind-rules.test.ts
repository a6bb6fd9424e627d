import { ApiError, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, ClusterClass, Machine } from "@capstan/capi";
import { Client } from "@capstan/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { kindRules } from "./kind-rules.ts";

let server: ApiServer;
let client: Client;

beforeEach(async () => {
  const clock = new VirtualClock();
  let running: ApiServer | undefined;
  const rules = kindRules([Cluster, ClusterClass, Machine], () => running);
  server = await createApiServer({
    store: memoryStore(),
    clock,
    random: seededRandom(1),
    controllers: false,
    ...rules,
  });
  running = server;
  await server.registerCrds([Cluster.crd(), ClusterClass.crd(), Machine.crd()]);
  client = new Client(server.admin(), { fieldManager: "test", clock });
  await client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "default" } }).catch(() => undefined);
});

afterEach(() => server.close());

const v1beta1 = { ...Cluster, version: "v1beta1" };
const key = { namespace: "default", name: "c" };
const ref = { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1", kind: "FooCluster", name: "c" };

function cluster(apiVersion: string, spec: object): Unstructured {
  return { apiVersion, kind: "Cluster", metadata: key, spec };
}

async function refusal(request: Promise<unknown>): Promise<ApiError> {
  const error = await request.then(
    () => undefined,
    (e: unknown) => e,
  );
  return error instanceof ApiError ? error : expect.fail("nothing was refused");
}

describe("kinds on the embedded API", () => {
  it("stores yesterday's manifests in today's version and shows them in both", async () => {
    await client.create(cluster("cluster.x-k8s.io/v1beta1", { infrastructureRef: ref }));
    const stored = await client.get<Unstructured>(Cluster, key);
    expect(stored?.["spec"]).toEqual({
      infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "FooCluster", name: "c" },
    });
    expect(stored?.metadata.annotations).toBeUndefined();
    const shown = await client.get<Unstructured>(v1beta1, key);
    expect(shown?.["spec"]).toEqual({ infrastructureRef: { ...ref, namespace: "default" } });
  });

  it("keeps what the old version cannot say when it is edited there", async () => {
    const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "K", name: "c" };
    await client.create(cluster("cluster.x-k8s.io/v1beta2", { controlPlaneRef }));
    const status = { controlPlane: { versions: [{ version: "v1.34.0", replicas: 1 }] } };
    await client.patchStatus({ kind: Cluster, ...key }, { status });
    await client.patch({ kind: v1beta1, ...key }, { spec: { paused: true } });
    const stored = await client.get<Unstructured>(Cluster, key);
    expect(stored).toMatchObject({ spec: { paused: true, controlPlaneRef }, status });
    expect(stored?.metadata.annotations).toBeUndefined();
  });

  it("refuses in either version, and names the field of the stored one", async () => {
    for (const version of ["v1beta1", "v1beta2"]) {
      const error = await refusal(client.create(cluster(`cluster.x-k8s.io/${version}`, { paused: true })));
      expect(error.code).toBe(422);
      expect(error.message).toContain(
        "one of spec.controlPlaneRef, spec.infrastructureRef or spec.topology must be set",
      );
    }
  });

  it("looks at other objects", async () => {
    const template = { apiVersion: "infrastructure.cluster.x-k8s.io/v1beta2", kind: "MemoryTemplate", name: "t" };
    const spec = { infrastructure: { templateRef: template }, controlPlane: { templateRef: template } };
    const named = { namespace: "default", name: "k" };
    await client.create({ apiVersion: ClusterClass.apiVersion, kind: "ClusterClass", metadata: named, spec });
    await client.create(cluster(Cluster.apiVersion, { topology: { classRef: { name: "k" }, version: "v1.34.0" } }));
    const error = await refusal(client.delete({ kind: ClusterClass, ...named }));
    expect(error.message).toContain("used by: default/c");
  });
});
