import {
  ApiError,
  type ApiRequest,
  type ApiResponse,
  seededRandom,
  type Transport,
  type Unstructured,
  type WatchEvent,
} from "@capstan/apimachinery";
import { Secret } from "@capstan/capi";
import { buildKubeconfig } from "@capstan/pki";
import { HostSecret, PersistentVolumeClaim, Pod, Service } from "@capstan/workloads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Outer } from "./testing/outer.ts";
import { World } from "./testing/world.ts";

let world: World;
let other: Outer;
/** Whether the outer cluster accepts the kubeconfig. */
let accepted: boolean;
/** Paths that its user may not read. */
let forbidden: RegExp | undefined;
/** What its quota answers when a pod is created. */
let exceeded: string | undefined;

const kubeconfig = (token: string): string =>
  buildKubeconfig({
    server: "https://192.0.2.1:6443",
    caPem: "",
    clusterName: "outer",
    userName: "u",
    contextName: "outer",
    token,
  });

const secret = (token: string): Unstructured => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { namespace: "default", name: "outer" },
  data: { value: Buffer.from(kubeconfig(token)).toString("base64") },
});

beforeEach(async () => {
  accepted = true;
  forbidden = undefined;
  exceeded = undefined;
  world = await World.start({
    runsPods: false,
    cluster: { hostCluster: { secretName: "outer" } },
    dial: () => (accepted ? gated(other.server.admin()) : refusing),
  });
  other = await Outer.start({ clock: world.clock, random: seededRandom(9), crds: [] });
});
afterEach(async () => {
  await world.close();
  await other.close();
});

const refuse = (reason: string, code: number, message = reason): never => {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure" } as const;
  throw new ApiError({ ...status, reason, message, code });
};
const unauthorized = (): never => refuse("Unauthorized", 401);

/** An API server that has accepted a certificate that is expired by now. */
function gated(inner: Transport): Transport {
  return {
    request: async (request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> => {
      if (forbidden?.test(request.path) === true) refuse("Forbidden", 403);
      if (exceeded !== undefined && request.method === "POST" && request.path.endsWith("/pods"))
        refuse("Forbidden", 403, exceeded);
      return accepted ? await inner.request(request, signal) : unauthorized();
    },
    async *watch(request: ApiRequest, signal?: AbortSignal): AsyncIterable<WatchEvent> {
      for await (const event of inner.watch(request, signal)) {
        if (!accepted) unauthorized();
        yield event;
      }
    },
    close: () => inner.close(),
  };
}
const refusing: Transport = {
  request: async () => unauthorized(),
  watch: () => unauthorized(),
  close: async () => undefined,
};

/** Has the name of the machine, whose own pod cannot be created. */
const FOREIGN_POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { namespace: "default", name: "m1" },
  spec: { containers: [{ name: "a", image: "a" }] },
};
const CLAIM = {
  metadata: { name: "var-lib-kubelet" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};
const hostedThere = async (): Promise<string[]> => {
  const selector = { labelSelector: "capstan.dev/hosted" };
  const lists = [
    await other.client.list(HostSecret, selector),
    await other.client.list(PersistentVolumeClaim, selector),
  ];
  return lists.flatMap(({ items }) => items.map(({ metadata }) => metadata.name ?? ""));
};
const podsThere = async (): Promise<string[]> => (await other.pods()).map(({ metadata }) => metadata.name ?? "");

describe("an outer cluster of its own", () => {
  test("runs the pods and the Service, in a namespace of the same name that is created", async () => {
    expect(await world.clusterCondition()).toMatchObject({ reason: "HostClusterNotKnown" });
    await world.client.create(secret("a"));
    await world.pass(40);
    expect(await world.clusterCondition()).toMatchObject({ status: "True" });
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({ status: "True" });
    expect(await podsThere()).toEqual(["m1"]);
    expect(await world.pod()).toBeUndefined();
    expect(await other.client.get(Service, { namespace: "default", name: "c1-api-server" })).toBeDefined();
    expect((await world.get()).status?.podRef?.hostCluster).toBe("outer");
  });

  test("is still known to a machine whose KubernetesCluster is deleted", async () => {
    await world.client.create(secret("a"));
    await world.pass(40);
    await world.machine("m1");
    const infra = await world.infra();
    await world.client.patch(infra, { metadata: { finalizers: null } });
    await world.client.delete(infra);
    await world.client.delete(await world.get());
    await world.pass(20);
    expect(await podsThere()).toEqual([]);
  });

  test("is known to a machine that never got a pod, so that its Secrets and claims are deleted without the KubernetesCluster", async () => {
    await world.client.create(secret("a"));
    await world.pass(40);
    await other.client.create(FOREIGN_POD);
    await world.machine("m1", { volumeClaimTemplates: [CLAIM] });
    expect(await world.condition()).toMatchObject({ reason: "NameTaken" });
    expect(await hostedThere()).toContain("m1-node-bootstrap");
    const infra = await world.infra();
    await world.client.patch(infra, { metadata: { finalizers: null } });
    await world.client.delete(infra);
    await world.client.delete((await world.client.get(Secret, { namespace: "default", name: "outer" })) as Secret);
    await world.client.delete(await world.get());
    await world.pass(20);
    expect(await world.condition("Deleting"), "it is not given up").toMatchObject({ reason: "HostClusterNotKnown" });
    await world.client.create(secret("a"));
    await world.pass(60);
    expect(await hostedThere()).toEqual([]);
    await expect(world.get()).rejects.toThrow("does not exist");
  });

  test("is not forgotten by a cluster whose Service is there and has no address yet", async () => {
    await world.close();
    await other.close();
    const cluster = { hostCluster: { secretName: "outer" }, controlPlaneService: { type: "LoadBalancer" } };
    world = await World.start({ runsPods: false, cluster, dial: () => gated(other.server.admin()) });
    other = await Outer.start({ clock: world.clock, random: seededRandom(9), crds: [] });
    other.runner.balances = false;
    await world.client.create(secret("a"));
    await world.pass(40);
    expect(await world.clusterCondition()).toMatchObject({ reason: "WaitingForLoadBalancer" });
    await world.client.delete((await world.client.get(Secret, { namespace: "default", name: "outer" })) as Secret);
    await world.client.delete(await world.infra());
    await world.pass(10);
    expect((await world.infra()).metadata.deletionTimestamp).toBeDefined();
    await world.client.create(secret("a"));
    await world.pass(60);
    expect(await other.client.get(Service, { namespace: "default", name: "c1-api-server" })).toBeUndefined();
    await expect(world.infra()).rejects.toThrow("does not exist");
  });

  test("that no longer accepts its kubeconfig is reported, deletes nothing, and continues with a renewed one", async () => {
    await world.client.create(secret("a"));
    await world.pass(40);
    await world.machine("m1");
    accepted = false;
    await other.client.patchStatus((await other.pods())[0] as never, { status: { message: "changed" } });
    await world.client.patch(await world.get(), { metadata: { labels: { look: "again" } } });
    await world.pass(90);
    expect(await world.condition()).toMatchObject({ status: "False", reason: "HostClusterNotReachable" });
    expect((await world.condition())?.message).toContain("Unauthorized");
    await world.client.delete(await world.get());
    await world.pass(30);
    expect(await world.condition("Deleting")).toMatchObject({ reason: "HostClusterNotReachable" });
    expect(await podsThere()).toEqual(["m1"]);
    accepted = true;
    const known = await world.client.get(Secret, { namespace: "default", name: "outer" });
    await world.client.patch(known as Secret, { data: { value: Buffer.from(kubeconfig("b")).toString("base64") } });
    await world.pass(60);
    expect(await podsThere()).toEqual([]);
    await expect(world.get()).rejects.toThrow("does not exist");
  });

  test("whose nodes may not be read keeps no machine from being deleted", async () => {
    await world.client.create(secret("a"));
    await world.pass(40);
    await world.machine("m1");
    const pod = { kind: Pod, namespace: "default", name: "m1" };
    await other.client.createSubresource(pod, "binding", {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { namespace: "default", name: "m1" },
      target: { kind: "Node", name: "outer-1" },
    });
    // The embedded API deletes pods without grace; a kubelet that holds one is a finalizer here.
    await other.client.patch(pod, { metadata: { finalizers: ["example.org/kubelet"] } });
    forbidden = /\/nodes/;
    await world.client.delete(await world.get());
    await world.pass(120);
    expect(await world.condition("Deleting")).toMatchObject({ reason: "PodNotTerminating" });
    await other.client.patch(pod, { metadata: { finalizers: null } });
    await world.pass(30);
    await expect(world.get()).rejects.toThrow("does not exist");
  });

  test("that allows no priority class runs control planes without one", async () => {
    await world.client.create(secret("a"));
    await world.pass(40);
    forbidden = /\/priorityclasses/;
    await world.machine("m1", {}, { controlPlane: true });
    expect(await world.condition()).toMatchObject({ status: "True" });
    expect((await other.pods())[0]?.spec).not.toHaveProperty("priorityClassName");
  });

  test("whose quota is exceeded has no capacity, and gets the pod once there is room", async () => {
    await world.client.create(secret("a"));
    await world.pass(40);
    exceeded = 'pods "m1" is forbidden: exceeded quota: team, requested: limits.memory=4Gi, used: 8Gi, limited: 8Gi';
    await world.machine("m1");
    expect(await world.condition()).toMatchObject({
      status: "False",
      reason: "InsufficientCapacity",
      message: expect.stringContaining("exceeded quota: team") as string,
    });
    exceeded = undefined;
    await world.pass(60);
    expect(await world.condition()).toMatchObject({ status: "True" });
  });

  test("cannot be exchanged for another one", async () => {
    await expect(
      world.client.patch(await world.infra(), { spec: { hostCluster: { secretName: "b" } } }),
    ).rejects.toThrow(/cannot move/);
  });
});
