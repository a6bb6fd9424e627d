import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { prepareForJoin, type RealKubernetes, startKubeApiserver } from "../real-kubernetes/index.ts";
import { Capstan } from "./capstan/instance.ts";
import { applyUserData, eventually, Lab, type Node, workerImages } from "./harness/index.ts";
import { HostedWorld } from "./hosted-world.ts";

/**
 * The same way twice in one run: from nothing to a Service that answers over two real nodes, once by hand with kubeadm's own phases
 * and `kubeadm join`, once from one file. Machines are on and have their images in both. Prints lines FIGURE {json}.
 */
const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const example = fileURLToPath(new URL("../../docs/examples/hosted.yaml", import.meta.url));
const cleanUps: (() => Promise<unknown>)[] = [];

afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

type Kubectl = (...args: string[]) => Promise<string>;
interface Times {
  joinToReady: number;
  total: number;
}

async function machines(): Promise<{ lab: Lab; nodes: Node[] }> {
  const lab = await Lab.open();
  cleanUps.push(() => lab.close());
  const nodes = ["n1", "n2"].map((name) => lab.addNode(name));
  await Promise.all(nodes.map((node) => node.start()));
  await Promise.all(nodes.map((node) => node.importImages(workerImages.map((name) => lab.images[name]))));
  return { lab, nodes };
}

const seconds = (since: number): number => (performance.now() - since) / 1000;

async function untilReady(kubectl: Kubectl): Promise<void> {
  await eventually("two Ready nodes", async () => {
    const lines = (await kubectl("get", "nodes", "--no-headers")).split("\n");
    return lines.filter((line) => /\sReady\s/.test(line)).length === 2;
  });
}

async function untilAnswers(kubectl: Kubectl): Promise<void> {
  await kubectl("apply", "-f", file("web.yaml"));
  await kubectl("rollout", "status", "deployment/web", "--timeout=120s");
  const pods = (await kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n");
  const seen = new Set<string>();
  await eventually("answers of both pods", async () => {
    const ask = ["timeout", "5", "wget", "-qO-", "http://web.default.svc.cluster.local/"];
    for (const pod of pods) seen.add((await kubectl("exec", pod, "--", ...ask)).trim());
    return seen.size === 2;
  });
}

async function byHand(): Promise<Times> {
  const { lab, nodes } = await machines();
  const begun = performance.now();
  const real: RealKubernetes = await startKubeApiserver({
    address: lab.gateway,
    controllerManager: true,
    scheduler: true,
  });
  cleanUps.push(() => real.stop());
  const kubectl: Kubectl = async (...args) => {
    const { code, stdout, stderr } = await real.kubectl(...args);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  // As in the example of the other way, which has kubeadm's default.
  const join = await prepareForJoin(real, { proxyMode: "iptables" });
  await kubectl("apply", "-f", file("cni.yaml"));
  const joining = performance.now();
  await Promise.all(nodes.map((node) => node.must(join, { timeout: 120_000 })));
  await untilReady(kubectl);
  const joinToReady = seconds(joining);
  await untilAnswers(kubectl);
  return { joinToReady, total: seconds(begun) };
}

async function hosted(): Promise<Times> {
  const { lab, nodes } = await machines();
  const capstan = await Capstan.start(lab.gateway);
  cleanUps.push(() => capstan.close());
  const world = new HostedWorld(capstan, lab);
  cleanUps.push(async () => world.close());
  await capstan.kubectl("apply", "-f", file("hosted-kind.yaml"));
  const begun = performance.now();
  await capstan.kubectl("apply", "-f", example);
  await capstan.kubectl("wait", "--for=condition=Available", "cluster/demo", "--timeout=120s");
  await world.connect();
  const kubectl: Kubectl = (...args) => world.kubectl(...args);
  await kubectl("apply", "-f", file("cni.yaml"));
  const userData = await Promise.all(nodes.map((node) => world.userData(node.name)));
  const joining = performance.now();
  await Promise.all(
    nodes.map((node, index) => Promise.all([applyUserData(node, userData[index] ?? ""), world.provisioned(node.name)])),
  );
  await untilReady(kubectl);
  const joinToReady = seconds(joining);
  await untilAnswers(kubectl);
  return { joinToReady, total: seconds(begun) };
}

test("by hand and from one file, in the same run", async () => {
  const peer = await byHand();
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
  const ours = await hosted();
  console.log(`FIGURE ${JSON.stringify({ ours, peer })}`);
  expect(ours.total).toBeGreaterThan(0);
});
