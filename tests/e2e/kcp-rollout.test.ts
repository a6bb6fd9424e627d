import { afterAll, beforeAll, expect, test } from "vitest";
import { Reader } from "../docs/reader.ts";
import { defaultKubernetesVersion as NEW, previousKubernetesVersion as OLD } from "../real-kubernetes/index.ts";
import { askAgainAndAgain } from "./ask.ts";
import { eventually, leftovers, timed } from "./harness/index.ts";
import { KcpWorld, OUTAGE_MS } from "./kcp-world.ts";

/**
 * A control plane made by kubeadm on bring-your-own hosts whose machines are replaced: all by an upgrade, one before its certificates
 * expire, one because it was deleted. In every step the manager and an agent at work are killed (kill -9).
 */
let world: KcpWorld;
let page: Reader;

beforeAll(async () => {
  world = await KcpWorld.open([OLD, NEW], 4);
  page = new Reader("docs/kubeadm-control-planes.md", "tests/e2e/kcp-rollout.test.ts", world.shell);
});
afterAll(async () => {
  await world?.close();
});

test("three control plane machines and a worker whose Service answers", async () => {
  await world.addPodNetwork();
  await timed("applied to four Nodes Ready", () => world.create(3, OLD));
  await timed("Service answers", () => world.serve());
});

test("an upgrade to the next minor version replaces one machine at a time, while a pod answers", async () => {
  const stopPod = askAgainAndAgain(world.web, undefined, { path: "/", everyMs: 100 });
  const stopApi = world.askApi();
  const most = { machines: 0, leaving: 0 };
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const query = "{range .items[*]}{.metadata.name} {.metadata.deletionTimestamp}{'\\n'}{end}";
      // The manager is killed meanwhile.
      const text = await world.field("machines -l cluster.x-k8s.io/control-plane", query).catch(() => "");
      const lines = text.trim().split("\n");
      most.machines = Math.max(most.machines, lines.length);
      most.leaving = Math.max(most.leaving, lines.filter((line) => / \S/.test(line)).length);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  })();
  await timed("three machines to the next minor version", async () => {
    // The command ends with the connection to the manager; its work does not.
    const upgrading = page.type("Upgrade, scale and replace", "--control-plane-only").catch(() => undefined);
    await world.killAllAt("join");
    await world.killAllAt("reset");
    await world.settled(3, NEW, 580_000);
    await upgrading;
  });
  isOver = true;
  await watching;
  expect(most).toEqual({ machines: 4, leaving: 1 });
  expect((await stopPod()).failures).toEqual([]);
  expect((await stopApi()).longestOutageMs).toBeLessThan(OUTAGE_MS);
  await world.voters(await world.holder(), 3);
  const versions = await world.kubectl("get", "nodes", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}");
  expect(versions.split(" ").toSorted()).toEqual([OLD, NEW, NEW, NEW]);
});

test("a machine whose certificates expire soon is replaced, and it alone", async () => {
  const before = [...(await world.placement()).keys()].toSorted();
  const [soon = "", ...others] = before;
  const patch = JSON.stringify({ spec: { rollout: { before: { certificatesExpiryDays: 30 } } } });
  await world.capstan.kubectl("patch", "kcp", world.cluster, "--type=merge", "-p", patch);
  const config = await world.field(`machine ${soon}`, "{.spec.bootstrap.configRef.name}");
  const at = new Date(Date.now() + 5 * 24 * 3600_000).toISOString().replace(/\.\d+/, "");
  await timed("one of three replaced", async () => {
    const annotation = `machine.cluster.x-k8s.io/certificates-expiry=${at}`;
    await world.capstan.kubectl("annotate", "kubeadmconfig", config, annotation, "--overwrite");
    await world.killAllAt("join");
    await eventually("its deletion", async () => !(await world.placement()).has(soon), { timeout: 240_000 });
    await world.settled(3, NEW);
  });
  const after = [...(await world.placement()).keys()];
  expect(after).toEqual(expect.arrayContaining(others));
  expect(after).not.toContain(soon);
  await world.voters(await world.holder(), 3);
});

test("a machine that is deleted is replaced", async () => {
  const [machine = "", ...others] = (await world.placement()).keys();
  await timed("one of three deleted and replaced", async () => {
    const own = { "demo-x7k2p": machine };
    await page.type("Upgrade, scale and replace", "delete machine", { own, more: "--wait=false" });
    await world.killAllAt("reset");
    await eventually("its deletion", async () => !(await world.placement()).has(machine), { timeout: 240_000 });
    await world.settled(3, NEW);
  });
  expect([...(await world.placement()).keys()]).toEqual(expect.arrayContaining(others));
  await world.voters(await world.holder(), 3);
});

test("nothing is left behind", async () => {
  expect(page.untyped()).toEqual([]);
  await world.close();
  expect(await leftovers(world.lab.id)).toEqual([]);
});
