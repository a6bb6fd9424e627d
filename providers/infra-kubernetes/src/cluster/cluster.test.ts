import { isReason, type Unstructured } from "@capstan/apimachinery";
import { field } from "@capstan/capi";
import { HostNode, PodDisruptionBudget, Service } from "@capstan/workloads";
import { afterEach, describe, expect, test } from "vitest";
import { KubernetesMachineTemplate } from "../kinds/kubernetes-machine.ts";
import { running } from "../testing/outer.ts";
import { World } from "../testing/world.ts";

let world: World;
afterEach(() => world.close());

const key = { namespace: "default", name: "c1-api-server" };
const service = (): Promise<Service | undefined> => world.client.get(Service, key);
const endpoint = async (): Promise<unknown> => (await world.infra()).spec?.controlPlaneEndpoint;

async function node(name: string, labels: Record<string, string> = {}, address?: string): Promise<void> {
  const made = await world.client.create<Unstructured>({ apiVersion: "v1", kind: "Node", metadata: { name, labels } });
  const addresses = address === undefined ? [] : [{ type: "InternalIP", address }];
  await world.client.patchStatus(made, { status: { conditions: [{ type: "Ready", status: "True" }], addresses } });
}

describe("the Service of a control plane on machines", () => {
  test("has type ClusterIP unless the spec says otherwise, and is the endpoint", async () => {
    world = await World.start();
    expect((await service())?.spec).toMatchObject({
      type: "ClusterIP",
      selector: { "cluster.x-k8s.io/cluster-name": "c1", "cluster.x-k8s.io/control-plane": "" },
      ports: [{ name: "https", port: 6443, targetPort: "kube-apiserver" }],
    });
    expect(await endpoint()).toEqual({ host: "172.20.0.1", port: 6443 });
    expect(await world.clusterCondition()).toMatchObject({ status: "True" });
  });

  test("sends to API servers that are not ready until one is, because kubeadm init needs it", async () => {
    world = await World.start();
    expect((await service())?.spec?.publishNotReadyAddresses).toBe(true);
    await world.machine("m1", {}, { controlPlane: true });
    await world.pass(3);
    expect((await service())?.spec?.publishNotReadyAddresses).toBe(false);
  });

  test.each([{ controlPlaneService: { type: "LoadBalancer" } }, { controlPlaneServiceType: "LoadBalancer" }])(
    "of %j gets the address of a load balancer",
    async (cluster) => {
      world = await World.start({ cluster });
      expect(await endpoint()).toEqual({ host: "10.200.0.1", port: 6443 });
    },
  );

  test("of type LoadBalancer has the class, ranges, policy and metadata of the spec", async () => {
    const controlPlaneService = {
      type: "LoadBalancer",
      port: 443,
      loadBalancerClass: "example.org/lb",
      loadBalancerSourceRanges: ["192.0.2.0/24"],
      externalTrafficPolicy: "Local",
      metadata: { labels: { team: "a" }, annotations: { note: "b" } },
    };
    world = await World.start({ cluster: { controlPlaneService } });
    expect(await service()).toMatchObject({
      metadata: {
        labels: { team: "a" },
        annotations: { note: "b", "capstan.dev/hosted-by": "default/kubernetescluster/c1" },
      },
      spec: {
        loadBalancerClass: "example.org/lb",
        loadBalancerSourceRanges: ["192.0.2.0/24"],
        externalTrafficPolicy: "Local",
        ports: [{ port: 443 }],
      },
    });
    expect(await endpoint()).toMatchObject({ port: 443 });
  });

  test("of type NodePort is reached at an outer node", async () => {
    world = await World.start({ cluster: { controlPlaneService: { type: "NodePort" } } });
    expect(await world.clusterCondition()).toMatchObject({ reason: "WaitingForOuterNode" });
    await node("outer-1", {}, "192.0.2.7");
    await world.client.patch((await service()) as Service, {
      spec: { ports: [{ name: "https", port: 6443, targetPort: "kube-apiserver", nodePort: 30_123 }] },
    });
    await world.pass(330);
    expect(await endpoint()).toEqual({ host: "192.0.2.7", port: 30_123 });
  });

  test.each(["is not Ready", "is deleted"])(
    "of type NodePort is a fault when the outer node of the endpoint %s",
    async (how) => {
      world = await World.start({ cluster: { controlPlaneService: { type: "NodePort" } } });
      await node("outer-1", {}, "192.0.2.7");
      const nodePort = (port: number): object => ({
        spec: { ports: [{ name: "https", port: 6443, targetPort: "kube-apiserver", nodePort: port }] },
      });
      await world.client.patch((await service()) as Service, nodePort(30_123));
      await world.pass(330);
      expect(await endpoint()).toEqual({ host: "192.0.2.7", port: 30_123 });
      await world.pass(5);
      await node("outer-2", {}, "192.0.2.8");
      const outer1 = (await world.client.get(HostNode, { name: "outer-1" })) as HostNode;
      if (how === "is deleted") await world.client.delete(outer1);
      if (how === "is not Ready")
        await world.client.patchStatus(outer1, { status: { conditions: [{ type: "Ready", status: "Unknown" }] } });
      await world.pass(330);
      expect(await world.clusterCondition()).toMatchObject({ status: "False", reason: "EndpointNodeLost" });
      expect((await world.clusterCondition())?.message).toContain("outer node outer-1");
      expect(await endpoint()).toEqual({ host: "192.0.2.7", port: 30_123 });
    },
  );

  test("of type NodePort is no fault with an address in front of the outer nodes", async () => {
    const controlPlaneEndpoint = { host: "192.0.2.100", port: 30_123 };
    world = await World.start({ cluster: { controlPlaneService: { type: "NodePort" }, controlPlaneEndpoint } });
    await node("outer-1", {}, "192.0.2.7");
    await world.pass(330);
    expect(await world.clusterCondition()).toMatchObject({ status: "True" });
  });

  test("is not made with type None, which needs an endpoint", async () => {
    world = await World.start({ cluster: { controlPlaneService: { type: "None" } } });
    expect(await world.clusterCondition()).toMatchObject({ reason: "WaitingForEndpoint" });
    await world.client.patch(await world.infra(), {
      spec: { controlPlaneEndpoint: { host: "api.example.org", port: 443 } },
    });
    await world.pass(3);
    expect(await world.clusterCondition()).toMatchObject({ status: "True" });
    expect(await service()).toBeUndefined();
  });

  test("is not made for a hosted control plane", async () => {
    const controlPlaneRef = { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name: "c1" };
    world = await World.start({ core: { controlPlaneRef } });
    expect(await world.clusterCondition()).toMatchObject({ status: "True" });
    expect(await service()).toBeUndefined();
  });

  test("that is deleted is made again with the address of the endpoint", async () => {
    world = await World.start();
    await world.client.delete((await service()) as Service);
    await world.pass(5);
    expect((await service())?.spec?.clusterIP).toBe("172.20.0.1");
  });

  test("that was changed is repaired", async () => {
    world = await World.start();
    await world.client.patch((await service()) as Service, {
      spec: { selector: { "cluster.x-k8s.io/cluster-name": "other" } },
    });
    await world.pass(3);
    expect((await service())?.spec?.selector).toMatchObject({ "cluster.x-k8s.io/cluster-name": "c1" });
  });

  test("whose load balancer gets another address is a fault", async () => {
    world = await World.start({ cluster: { controlPlaneService: { type: "LoadBalancer" } } });
    await world.client.patchStatus((await service()) as Service, {
      status: { loadBalancer: { ingress: [{ ip: "10.9.9.9" }] } },
    });
    await world.pass(3);
    expect(await world.clusterCondition()).toMatchObject({ reason: "EndpointChanged" });
    expect(await endpoint()).toMatchObject({ host: "10.200.0.1" });
  });

  test("that belongs to someone else is left alone", async () => {
    world = await World.start({ cluster: { controlPlaneService: { type: "None" } } });
    await world.client.create<Unstructured>({
      apiVersion: "v1",
      kind: "Service",
      metadata: key,
      spec: { ports: [{ port: 1 }] },
    });
    await world.client.patch(await world.infra(), { spec: { controlPlaneService: { type: "ClusterIP" } } });
    await world.pass(3);
    expect(await world.clusterCondition()).toMatchObject({ reason: "NameTaken" });
    expect((await service())?.spec?.ports).toMatchObject([{ port: 1 }]);
  });

  test("is deleted with the cluster", async () => {
    world = await World.start();
    await world.client.delete(await world.infra());
    await world.pass(5);
    expect(await service()).toBeUndefined();
    await expect(world.infra()).rejects.toThrow("does not exist");
  });

  test("cannot change its type once the endpoint is set", async () => {
    world = await World.start();
    const change = world.client.patch(await world.infra(), { spec: { controlPlaneService: { type: "LoadBalancer" } } });
    await expect(change).rejects.toSatisfy((error) => isReason(error, "Invalid"));
  });
});

describe("failure domains", () => {
  test("are the values of a label of the outer nodes, and machines run where they are requested", async () => {
    world = await World.start({ cluster: { failureDomains: { label: "zone" } } });
    await node("outer-1", { zone: "z2" });
    await node("outer-2", { zone: "z1" });
    await world.pass(330);
    expect((await world.infra()).status?.failureDomains).toEqual([
      { name: "z1", controlPlane: true },
      { name: "z2", controlPlane: true },
    ]);
    await world.machine("m1", {}, { core: { failureDomain: "z1" } });
    expect(JSON.stringify((await world.pod())?.spec)).toContain('{"key":"zone","operator":"In","values":["z1"]}');
    expect((await world.get()).status?.failureDomain).toBe("z1");
  });
});

test("pods of other clusters do not count as ready API servers", async () => {
  world = await World.start();
  world.outer.runner.fate = running;
  await world.machine("w1");
  await world.pass(3);
  expect((await service())?.spec?.publishNotReadyAddresses).toBe(true);
});

describe("the disruption budgets of a cluster", () => {
  const budgets = async (): Promise<Record<string, unknown>> =>
    Object.fromEntries(
      (await world.client.list(PodDisruptionBudget)).items.map((each) => [
        each.metadata.name,
        field(each, "spec", "minAvailable"),
      ]),
    );

  test("leave a quorum of the members, and all workers, that are not being deleted", async () => {
    world = await World.start();
    await world.pass(3);
    expect(await budgets()).toEqual({});
    await world.machine("m1", {}, { controlPlane: true });
    expect(await budgets()).toEqual({ "c1-control-plane": 1 });
    await world.machine("m2", {}, { controlPlane: true });
    await world.machine("m3", {}, { controlPlane: true });
    await world.machine("w1");
    expect(await budgets()).toEqual({ "c1-control-plane": 2, "c1-workers": 1 });
    await world.client.delete(await world.get("m3"));
    await world.client.delete(await world.get("m2"));
    await world.client.delete(await world.get("w1"));
    await world.pass(10);
    expect(await budgets()).toEqual({ "c1-control-plane": 1, "c1-workers": 0 });
  });

  test("are not made with disruptionProtection None, and removed with it", async () => {
    world = await World.start();
    await world.machine("m1", {}, { controlPlane: true });
    await world.client.patch(await world.infra(), { spec: { disruptionProtection: "None" } });
    await world.pass(3);
    expect(await budgets()).toEqual({});
  });
});

test("a template publishes the limits of its machines as capacity", async () => {
  world = await World.start();
  const template = await world.client.create<Unstructured>({
    apiVersion: KubernetesMachineTemplate.apiVersion,
    kind: KubernetesMachineTemplate.kind,
    metadata: { namespace: "default", name: "t1" },
    spec: { template: { spec: { resources: { limits: { cpu: "2", memory: "4Gi" } } } } },
  });
  await world.pass(2);
  const seen = await world.client.get(KubernetesMachineTemplate, {
    namespace: "default",
    name: template.metadata.name ?? "",
  });
  expect(seen?.status?.capacity).toEqual({ cpu: "2", memory: "4Gi" });
});
