import { findCondition, type Unstructured } from "@capstan/apimachinery";
import { conditionsOf, Machine } from "@capstan/capi";
import { ByoHost } from "@capstan/host-agent";
import { ByoMachine, DEAD_AGENT, SIMULATED_AGENT_ANNOTATION } from "@capstan/infra-byoh";
import { BareMetalHost, Metal3Machine } from "@capstan/infra-metal3";
import type { Client } from "@capstan/runtime";
import { afterEach, expect, test, vi } from "vitest";
import { cluster, infraCluster, workers } from "../simulation/manifests.ts";
import { Plane } from "../simulation/plane.ts";
import { attempt, TENANT, tenantOf } from "./tenant.ts";

vi.setConfig({ testTimeout: 120_000 });

/**
 * Attack: a simulated host of the tenant says that it is the Node of another namespace's machine. The manager resumes simulated Nodes
 * over its own connection to their cluster, so that the tenant could decide whether that Node is Ready.
 */
const VICTIM = "victim";

let plane: Plane;
let mallory: Client;
afterEach(() => plane.close());

/** A cluster of the victim with one Node, on an API without our admission. */
async function victim(provider: "byoh" | "metal3"): Promise<string> {
  const metal = provider === "metal3";
  plane = await Plane.start({ own: metal ? 0 : 1, metal: metal ? 1 : 0, namespace: VICTIM, admission: false });
  const kind = metal ? "Metal3Cluster" : "ByoCluster";
  await plane.apply(cluster("c1", kind) + infraCluster(provider, "c1") + workers("c1", provider, 1));
  await plane.available("c1", 1);
  mallory = await tenantOf(plane);
  const node = (await plane.list(Machine))[0]?.status?.nodeRef?.name ?? "";
  expect(await nodeReady()).toBe("True");
  await mallory.create<Unstructured>({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: TENANT, name: "boot" },
    stringData: { value: joining(node), userData: joining(node) },
  });
  return node;
}

const joining = (node: string): string => `#cloud-config
write_files:
- path: /run/kubeadm/kubeadm-join-config.yaml
  content: |
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: JoinConfiguration
    discovery: { bootstrapToken: { apiServerEndpoint: "10.0.0.1:6443", token: abcdef.0123456789abcdef } }
    nodeRegistration: { name: ${node} }
`;

async function nodeReady(): Promise<string | undefined> {
  const [machine] = await plane.list(Machine);
  return findCondition(conditionsOf(machine ?? {}), "NodeReady")?.status;
}

test("a simulated ByoHost does not report for a Node of another namespace's cluster", async () => {
  const name = await victim("byoh");
  const [machine] = await plane.list(ByoMachine);
  const { name: machineName = "", uid = "" } = machine?.metadata ?? {};
  const { apiVersion, kind } = ByoMachine;
  const said = await attempt(mallory, {
    apiVersion: ByoHost.apiVersion,
    kind: ByoHost.kind,
    metadata: { namespace: TENANT, name },
    spec: {
      machineRef: { apiVersion, kind, namespace: VICTIM, name: machineName, uid },
      bootstrapSecret: { namespace: TENANT, name: "boot" },
    },
  } as Unstructured);
  expect(said).toBe("created");
  const host = { kind: ByoHost, namespace: TENANT, name };
  await mallory.patchStatus(host, { status: { bootstrap: { machineUID: uid, phase: "Succeeded" } } });
  for (const value of ["", DEAD_AGENT]) {
    await mallory.patch(host, { metadata: { annotations: { [SIMULATED_AGENT_ANNOTATION]: value } } });
    await plane.pass(10_000);
  }
  expect(await nodeReady()).toBe("True");
});

test("a simulated BareMetalHost does not report for a Node of another namespace's cluster", async () => {
  await victim("metal3");
  const [machine] = await plane.list(Metal3Machine);
  const { name = "" } = machine?.metadata ?? {};
  const { apiVersion, kind } = Metal3Machine;
  const image = { url: "http://images/a.iso", format: "live-iso" };
  await mallory.create<Unstructured>({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: TENANT, name: "bmc" },
    stringData: { username: "admin", password: "simulated" },
  });
  const provisioning = { state: "provisioned", ID: "a", image };
  const status = { operationalStatus: "OK", poweredOn: true, provisioning };
  const said = await attempt(mallory, {
    apiVersion: BareMetalHost.apiVersion,
    kind: BareMetalHost.kind,
    metadata: {
      namespace: TENANT,
      name: "a",
      annotations: { "baremetalhost.metal3.io/status": JSON.stringify(status) },
    },
    spec: {
      online: true,
      bmc: { address: "memory://a", credentialsName: "bmc" },
      bootMACAddress: "02:00:00:00:00:aa",
      image,
      consumerRef: { apiVersion, kind, namespace: VICTIM, name },
      userData: { namespace: TENANT, name: "boot" },
    },
  } as Unstructured);
  expect(said).toBe("created");
  await plane.pass(60_000);
  await plane.restartManager();
  await plane.pass(120_000);
  await mallory.patch({ kind: BareMetalHost, namespace: TENANT, name: "a" }, { spec: { online: false } });
  await plane.pass(120_000);
  expect(await nodeReady()).toBe("True");
});
