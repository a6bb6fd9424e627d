import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Reader } from "../docs/reader.ts";
import { defaultKubernetesVersion as VERSION } from "../real-kubernetes/index.ts";
import { changesOf, eventually, type HostState, leftovers, type Node, stateOfHost, timed } from "./harness/index.ts";
import { KcpWorld } from "./kcp-world.ts";

/**
 * A control plane made by kubeadm on bring-your-own hosts behind a virtual IP: created, scaled, deleted. In every step the manager and an
 * agent at work are killed (kill -9).
 */
let world: KcpWorld;
let page: Reader;
const clean = new Map<Node, HostState>();

beforeAll(async () => {
  world = await KcpWorld.open([VERSION], 3);
  page = new Reader("docs/kubeadm-control-planes.md", "tests/e2e/kcp.test.ts", world.shell);
  for (const host of world.hosts) clean.set(host, await stateOfHost(host));
});
afterAll(async () => {
  await world?.close();
});

/** Types what the page says after its file has been saved, and waits for both Nodes. */
async function create(): Promise<void> {
  writeFileSync(join(world.shell.dir, "demo.yaml"), world.manifest(VERSION));
  await page.type("Create", "kubectl apply");
  await world.killAllAt("init");
  await world.created(1, VERSION);
}

test("one file makes a cluster: both Nodes are Ready, and a Service answers", async () => {
  await world.addPodNetwork();
  await timed("applied to both Nodes Ready", create);
  await timed("Service answers", () => world.serve());
});

test("one becomes three: three started members", async () => {
  await timed("1 to 3", async () => {
    // The command ends with the connection to the manager; its work does not.
    const scaling = page.type("Upgrade, scale and replace", "--replicas 3").catch(() => undefined);
    await world.killAllAt("join");
    await scaling;
    await world.settled(3, VERSION);
  });
  await world.voters(await world.holder(), 3);
});

test("three become one", async () => {
  await timed("3 to 1", async () => {
    // The command ends with the connection to the manager; its work does not.
    const scaling = page.type("Upgrade, scale and replace", "--replicas 1").catch(() => undefined);
    await world.killAllAt("reset");
    await scaling;
    await world.settled(1, VERSION);
  });
  await world.voters(await world.holder(), 1);
});

test("deletion leaves clean hosts without virtual IP and packet filter rules, and a second cluster uses them", async () => {
  await timed("cluster deleted", async () => {
    await world.capstan.kubectl("delete", "cluster", world.cluster, "--wait=false");
    await world.killAllAt("reset");
    const isGone = async () => (await world.field(`cluster ${world.cluster}`, "{.metadata.name}")) === "";
    await eventually("the deletion", isGone, { timeout: 240_000 }).catch((error: unknown) => world.withStory(error));
  });
  for (const host of world.hosts) {
    await eventually(`${host.name} free`, async () => (await world.field(`byohost ${host.name}`, "{.spec}")) === "{}");
    expect(changesOf(clean.get(host) ?? {}, await stateOfHost(host)), host.name).toEqual([]);
  }
  await timed("a second cluster", create);
  await world.capstan.kubectl("delete", "cluster", world.cluster, "--timeout=240s");
});

test("nothing is left behind", async () => {
  expect(page.untyped()).toEqual([]);
  await world.close();
  expect(await leftovers(world.lab.id)).toEqual([]);
});
