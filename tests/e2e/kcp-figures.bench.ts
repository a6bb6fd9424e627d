import { afterAll, expect, test } from "vitest";
import { defaultKubernetesVersion as NEW, previousKubernetesVersion as OLD } from "../real-kubernetes/index.ts";
import { timed } from "./harness/index.ts";
import { controlPlaneNodes, KcpByHand } from "./kcp-by-hand.ts";
import { KcpWorld } from "./kcp-world.ts";

/**
 * The same way twice in one run, on hosts that are on and have their images: one control plane machine becomes three, and three are
 * replaced for the next minor version; once with kubeadm's commands by hand, once by a KubeadmControlPlane. Prints a line FIGURE {json}.
 */
let world: KcpWorld | undefined;
afterAll(() => world?.close());

/** In seconds. */
interface Times {
  oneToThree: number;
  nextMinor: number;
}

async function open(): Promise<KcpWorld> {
  await world?.close();
  world = undefined;
  world = await KcpWorld.open([OLD, NEW], 4);
  return world;
}

async function secondsOf(name: string, step: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await timed(name, step);
  return (performance.now() - begun) / 1000;
}

async function byHand(): Promise<Times> {
  const hand = new KcpByHand(await open(), OLD);
  await timed("by hand: one machine and a worker", () => hand.create(OLD));
  const oneToThree = await secondsOf("by hand: 1 to 3", async () => {
    await hand.join(OLD);
    await hand.join(OLD);
  });
  const nextMinor = await secondsOf("by hand: three to the next minor version", () => hand.roll(NEW));
  return { oneToThree, nextMinor };
}

async function byControlPlane(): Promise<Times> {
  const plane = await open();
  await plane.addPodNetwork();
  await timed("one machine and a worker", () => plane.create(1, OLD));
  const changed = async (spec: object, version: string): Promise<void> => {
    await plane.capstan.kubectl("patch", "kcp", plane.cluster, "--type=merge", "-p", JSON.stringify({ spec }));
    await plane.settled(3, version);
    const hosts = [...(await plane.placement()).values()];
    expect(hosts).toHaveLength(3);
    const wanted = Object.fromEntries(hosts.map(({ name }) => [name, version]));
    await controlPlaneNodes((...args) => plane.kubectl(...args), wanted);
    await plane.voters(await plane.holder(), 3);
  };
  const oneToThree = await secondsOf("1 to 3", () => changed({ replicas: 3 }, OLD));
  const nextMinor = await secondsOf("three to the next minor version", () => changed({ version: NEW }, NEW));
  return { oneToThree, nextMinor };
}

test("by hand and by a KubeadmControlPlane, in the same run", { timeout: 3_600_000 }, async () => {
  const peer = await byHand();
  const ours = await byControlPlane();
  console.log(`FIGURE ${JSON.stringify({ ours, peer })}`);
  expect(ours.nextMinor).toBeGreaterThan(0);
});
