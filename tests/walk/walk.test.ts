import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Capstan } from "../e2e/capstan/instance.ts";
import { eventually, Lab, type Node, timed, workerImages } from "../e2e/harness/index.ts";
import { HostedWorld } from "../e2e/hosted-world.ts";
import { kubernetesBin } from "../real-kubernetes/index.ts";

/** The versions to walk, oldest first; `run.mjs` names them. */
const VERSIONS = (process.env["CAPSTAN_WALK"] ?? "").split(",").filter(Boolean);
const [FIRST = "", ...NEXT] = VERSIONS;

const file = (name: string): string => fileURLToPath(new URL(`../e2e/${name}`, import.meta.url));

let lab: Lab;
let capstan: Capstan;
let world: HostedWorld;
/** The node of the version that the control plane ran last. */
let current: Node;
let ca: string;

beforeAll(async () => {
  lab = await Lab.open({ bin: kubernetesBin(FIRST) });
  capstan = await timed("capstan up", () => Capstan.start(lab.gateway));
  world = new HostedWorld(capstan, lab);
});

afterAll(async () => {
  await capstan?.close();
  await lab?.close();
  world?.close();
});

/** `NAME VERSION` of the Nodes that are Ready. */
async function readyKubelets(): Promise<string[]> {
  const path =
    '{range .items[*]}{.metadata.name} {.status.nodeInfo.kubeletVersion} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const lines = (await world.kubectl("get", "nodes", "-o", `jsonpath=${path}`)).trim().split("\n");
  return lines.filter((line) => line.endsWith(" True")).map((line) => line.slice(0, -" True".length));
}

/** Boots a host with the programs and images of a version, joins it, and waits until its Node is Ready. */
async function joinNode(version: string): Promise<Node> {
  const release = await lab.release(kubernetesBin(version));
  const node = lab.addNode(`n-${version.replaceAll(".", "-")}`, release);
  await timed(`${node.name} boots`, () => node.start());
  await node.importImages(workerImages.map((name) => release.images[name]));
  expect(await timed(`${node.name} joins`, () => world.join(node))).toContain("This node has joined the cluster");
  await timed(`${node.name} Ready`, () =>
    eventually("the Node", async () => (await readyKubelets()).includes(`${node.name} ${version}`)),
  );
  return node;
}

async function webAnswers(): Promise<void> {
  await timed("web", () => world.rolledOut("default", "deployment/web"));
  const pod = (await world.kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n")[0] ?? "";
  await eventually("an answer over Service and DNS", async () => {
    const ask = ["timeout", "5", "wget", "-qO-", "http://web.default.svc.cluster.local/"];
    return (await world.kubectl("exec", pod, "--", ...ask)).trim() !== "";
  });
}

test(`a cluster of ${FIRST} with a real node`, async () => {
  expect(VERSIONS.length, "run it with: npm run walk").toBeGreaterThan(1);
  await capstan.cli("kubernetes", "install", FIRST, "--from", kubernetesBin(FIRST));
  const manifest = readFileSync(
    fileURLToPath(new URL("../../docs/examples/hosted.yaml", import.meta.url)),
    "utf8",
  ).replace(/version: v\S+/, `version: ${FIRST}`);
  await capstan.kubectlWithInput(manifest, "apply", "-f", "-");
  await timed("Available", () => world.available(120_000));
  await world.connect();
  ca = world.ca();
  await capstan.kubectl("apply", "-f", file("hosted-kind.yaml"));
  await world.kubectl("apply", "-f", file("cni.yaml"));
  current = await joinNode(FIRST);
  await world.kubectl("apply", "-f", file("web.yaml"));
  await webAnswers();
});

test.each(NEXT)("an upgrade to %s, and a node of that version in place of the old one", async (version) => {
  const release = await lab.release(kubernetesBin(version));
  // Nothing is pulled here: the images that come with the version.
  await current.importImages([release.images["kube-proxy"], release.images.coredns]);
  await capstan.cli("kubernetes", "install", version, "--from", kubernetesBin(version));
  const before = await readyKubelets();
  await world.patch({ spec: { version } });
  await timed(`upgraded to ${version}`, () =>
    eventually("the new version", async () => (await world.hcp("{.status.version}")) === version, { timeout: 240_000 }),
  );
  await eventually("UpToDate", async () => (await world.condition("UpToDate")).startsWith("True"));
  await world.available();
  expect(await world.kubectl("version", "-o", "json")).toContain(`"gitVersion": "${version}"`);
  // The kubelet of the minor version before works with the new control plane.
  await eventually("the old Node", async () => (await readyKubelets()).join() === before.join());
  await webAnswers();

  const old = current;
  current = await joinNode(version);
  await capstan.kubectl("delete", "machine", old.name, "--timeout=120s");
  await old.powerOff();
  await timed("the old Node is deleted", () =>
    eventually("one Node", async () => (await readyKubelets()).join() === `${current.name} ${version}`, {
      timeout: 120_000,
    }),
  );
  await webAnswers();
  await world.connect();
  expect(world.ca()).toBe(ca);
});
