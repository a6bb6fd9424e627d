import { findCondition } from "@capstan/apimachinery";
import { Cluster, conditionsOf, IPAddress, Machine, MachineDeployment, Secret } from "@capstan/capi";
import { HostedControlPlane } from "@capstan/controlplane-hosted";
import { ByoHost } from "@capstan/host-agent";
import { ByoCluster, ByoMachine } from "@capstan/infra-byoh";
import {
  BareMetalHost,
  HOST_PAUSED_ANNOTATION,
  IPClaim,
  IPPool,
  Metal3Cluster,
  Metal3Data,
  Metal3DataClaim,
  Metal3IPAddress,
  Metal3Machine,
} from "@capstan/infra-metal3";
import { afterEach, describe, expect, test, vi } from "vitest";
import { cluster, infraCluster, metaCluster, workers } from "./manifests.ts";
import { unreachable } from "./move-graph.ts";
import { Plane } from "./plane.ts";

vi.setConfig({ testTimeout: 120_000 });

const DATA = `
---
apiVersion: ipam.metal3.io/v1alpha1
kind: IPPool
metadata: { name: provisioning, namespace: default }
spec:
  clusterName: c1
  namePrefix: provisioning
  pools: [{ start: 192.168.10.100, end: 192.168.10.150 }]
  prefix: 24
  gateway: 192.168.10.1
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: Metal3DataTemplate
metadata: { name: metal, namespace: default }
spec:
  clusterName: c1
  metaData:
    objectNames:
    - { key: name, object: machine }
    - { key: local-hostname, object: machine }
    ipAddressesFromPool: [{ key: provisioningIP, name: provisioning }]
  networkData:
    links: { ethernets: [{ type: phy, id: eth0, macAddress: { fromHostInterface: eth0 } }] }
    networks:
      ipv4:
      - id: provisioning
        link: eth0
        ipAddressFromIPPool: provisioning
        routes: [{ network: 0.0.0.0, gateway: { fromIPPool: provisioning } }]
`;
const METAL =
  "{ image: { url: http://images.example/node-v1.34.4.iso, diskFormat: live-iso }, dataTemplate: { name: metal } }";

const WORKERS = DATA + workers("c1", "byoh", 1) + workers("c1", "metal3", 1, METAL);
const CLUSTERS = infraCluster("byoh", "c1") + infraCluster("metal3", "c1");

/** The object set of the acceptance scenario, with a hosted control plane. */
const BESIDE = cluster("c1", "ByoCluster") + CLUSTERS + WORKERS;

/** The same under a MetaCluster. */
const META = cluster("c1", "MetaCluster") + metaCluster("c1", ["ByoCluster", "Metal3Cluster"]) + CLUSTERS + WORKERS;

let plane: Plane;
afterEach(() => plane.close());

async function start(manifest: string): Promise<void> {
  plane = await Plane.start({ own: 2, metal: 2 });
  await plane.apply(manifest);
  await plane.available("c1", 2);
}

async function claimedHosts(): Promise<{ own: ByoHost[]; metal: BareMetalHost[] }> {
  return {
    own: (await plane.list(ByoHost)).filter(({ spec }) => spec?.machineRef !== undefined),
    metal: (await plane.list(BareMetalHost)).filter(({ spec }) => spec.consumerRef !== undefined),
  };
}

/** Nothing of a cluster is left, and its hosts are as before. */
async function expectNothingLeft(): Promise<void> {
  for (const kind of [
    Machine,
    Metal3Machine,
    ByoMachine,
    Metal3Data,
    Metal3DataClaim,
    IPClaim,
    Metal3IPAddress,
    IPAddress,
  ])
    expect(await plane.list(kind as typeof Machine), kind.kind).toEqual([]);
  expect(await claimedHosts()).toEqual({ own: [], metal: [] });
  expect((await plane.list(ByoHost)).map(({ spec }) => spec)).toEqual([{}, {}]);
  expect(
    (await plane.list(BareMetalHost)).map(({ spec, status }) => [
      status?.provisioning.state,
      status?.poweredOn,
      spec.image,
    ]),
  ).toEqual([
    ["available", false, undefined],
    ["available", false, undefined],
  ]);
}

describe.each([
  ["two infrastructure clusters under a MetaCluster", META],
  ["one infrastructure cluster in addition to the other", BESIDE],
])("a mixed cluster with %s", (_name, manifest) => {
  test("(1) Nodes carry byoh:// and metal3:// IDs and Machines get nodeRef", async () => {
    await start(manifest);
    const machines = await plane.list(Machine);
    const schemes = machines.map(({ spec }) => String(spec.providerID?.split("://")[0])).sort();
    expect(schemes).toEqual(["byoh", "metal3"]);
    expect(machines.every(({ status }) => status?.nodeRef?.name !== undefined)).toBe(true);
    const [metal] = await plane.list(Metal3Machine);
    const [host] = (await claimedHosts()).metal;
    expect(metal?.spec?.providerID).toBe(`metal3://default/${host?.metadata.name}/${metal?.metadata.name}`);
    expect(metal?.metadata.annotations?.["metal3.io/BareMetalHost"]).toBe(`default/${host?.metadata.name}`);
    const secret = await plane.get(Secret, `${metal?.metadata.name}-metadata`);
    const text = Buffer.from(secret.data?.["metaData"] ?? "", "base64").toString();
    const owner = machines.find(({ spec }) => spec.infrastructureRef.kind === "Metal3Machine")?.metadata.name;
    expect(text).toBe(
      `local-hostname: ${owner}\nname: ${owner}\nproviderid: default/${host?.metadata.name}/${metal?.metadata.name}\nprovisioningIP: 192.168.10.100\n`,
    );
  });

  test("(2) pausing the Cluster pauses ByoMachine, Metal3Machine and the claimed BareMetalHost", async () => {
    await start(manifest);
    const pause = (paused: boolean): Promise<unknown> =>
      plane.client.patch({ kind: Cluster, namespace: "default", name: "c1" }, { spec: { paused } });
    const paused = async (): Promise<unknown[]> => [
      ...(await plane.list(ByoMachine)).map((m) => findCondition(conditionsOf(m), "Paused")?.status),
      ...(await plane.list(Metal3Machine)).map((m) => findCondition(conditionsOf(m), "Paused")?.status),
      ...(await claimedHosts()).metal.map(({ metadata }) => metadata.annotations?.[HOST_PAUSED_ANNOTATION]),
    ];
    await pause(true);
    await plane.pass(5_000);
    expect(await paused()).toEqual(["True", "True", "metal3.io/capm3"]);
    await pause(false);
    await plane.pass(5_000);
    expect(await paused()).toEqual(["False", "False", undefined]);
    await plane.available("c1", 2);
  });

  test("(3) both infrastructure clusters report ready, have an owner and the same endpoint", async () => {
    await start(manifest);
    const endpoint = (await plane.get(Cluster, "c1")).spec?.controlPlaneEndpoint;
    expect(endpoint?.host).toBeDefined();
    for (const kind of [ByoCluster, Metal3Cluster] as const) {
      const infra = await plane.get(kind as typeof ByoCluster, "c1");
      expect(findCondition(conditionsOf(infra), "Ready")?.status).toBe("True");
      expect(infra.status?.initialization?.provisioned).toBe(true);
      expect(infra.metadata.ownerReferences?.some(({ kind: owner }) => owner === "Cluster")).toBe(true);
      // The one that the Cluster refers to may leave the endpoint to the control plane.
      const refersTo = (await plane.get(Cluster, "c1")).spec?.infrastructureRef?.kind;
      if (refersTo !== infra.kind) expect(infra.spec?.controlPlaneEndpoint).toEqual(endpoint);
    }
  });

  test("(4) deleting the Cluster releases and deprovisions hosts, frees addresses, and keeps the inventory", async () => {
    await start(manifest);
    expect((await plane.get(IPPool, "provisioning")).metadata.ownerReferences?.[0]?.name).toBe("c1");
    await plane.client.delete({ kind: Cluster, namespace: "default", name: "c1" });
    await plane.gone("c1");
    await plane.pass(5_000);
    await expectNothingLeft();
    for (const kind of [ByoCluster, Metal3Cluster, IPPool] as const)
      expect(await plane.list(kind as typeof IPPool)).toEqual([]);
  });

  test("(5) every object is reachable in clusterctl's owner graph, so that a move carries it", async () => {
    await start(manifest);
    expect(await unreachable(plane)).toEqual([]);
  });

  test("(6) deleting the Metal3Cluster first never strands machines", async () => {
    await start(manifest);
    await plane.client.delete({ kind: Metal3Cluster, namespace: "default", name: "c1" });
    await plane.pass(5_000);
    await plane.client.patch(
      { kind: MachineDeployment, namespace: "default", name: "c1-metal3" },
      { spec: { replicas: 0 } },
    );
    await plane.until("no Metal3Machine", async () => (await plane.list(Metal3Machine)).length === 0);
    expect((await claimedHosts()).metal).toEqual([]);
  });

  test("deleted as a file half-way, everything is given back; a second cluster uses it all again", async () => {
    plane = await Plane.start({ own: 2, metal: 2 });
    const objects = await plane.apply(manifest);
    await plane.until("a host is being provisioned", async () =>
      (await plane.list(BareMetalHost)).some(({ status }) => status?.provisioning.state === "provisioning"),
    );
    for (const object of objects) await plane.client.delete(object);
    await plane.gone("c1");
    await plane.until(
      "all deleted",
      async () => (await plane.list(Metal3Machine)).length + (await plane.list(ByoMachine)).length === 0,
    );
    await plane.pass(20_000);
    await expectNothingLeft();
    await plane.apply(manifest);
    await plane.available("c1", 2);
  });

  test("the manager is replaced half-way", async () => {
    plane = await Plane.start({ own: 2, metal: 2 });
    await plane.apply(manifest);
    await plane.pass(2_000);
    await plane.restartManager();
    await plane.pass(3_000);
    await plane.restartManager();
    await plane.until(
      "two machines run",
      async () => (await plane.list(Machine)).filter(({ status }) => status?.nodeRef !== undefined).length === 2,
    );
    expect((await claimedHosts()).metal).toHaveLength(1);
    expect((await claimedHosts()).own).toHaveLength(1);
  });
});

test("(7) a KubeadmConfig with ds.meta_data given to an own host is reported as a clear condition", async () => {
  plane = await Plane.start({ own: 1, metal: 0 });
  await plane.apply(
    cluster("c1", "ByoCluster") +
      infraCluster("byoh", "c1") +
      workers("c1", "byoh", 1).replace(
        "format: cloud-config",
        'joinConfiguration: { nodeRegistration: { name: "{{ ds.meta_data.uuid }}" } }',
      ),
  );
  const message = async (): Promise<string> => {
    const [machine] = await plane.list(ByoMachine);
    const ready = machine === undefined ? undefined : findCondition(conditionsOf(machine), "Ready");
    return ready?.reason === "BootstrapFailed" ? ready.message : "";
  };
  await plane.until("the condition", async () => (await message()) !== "");
  expect(await message()).toMatch(/ds\.meta_data\.uuid|uuid/);
});

test("a namespace that is deleted half-way leaves nothing behind", async () => {
  plane = await Plane.start({ own: 2, metal: 2, namespace: "lab" });
  await plane.apply(META);
  await plane.until("a host is being provisioned", async () =>
    (await plane.list(BareMetalHost)).some(({ status }) => status?.provisioning.state === "provisioning"),
  );
  const namespace = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false } as const;
  await plane.client.delete({ kind: namespace, name: "lab" });
  await plane.until(
    "the namespace is deleted",
    async () => (await plane.client.get(namespace, { name: "lab" })) === undefined,
  );
  for (const kind of [Cluster, HostedControlPlane, Metal3Machine, ByoMachine, BareMetalHost, ByoHost] as const)
    expect(await plane.list(kind as typeof Cluster)).toEqual([]);
});
