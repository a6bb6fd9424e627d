import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { prepareForJoin, type RealKubernetes, startKubeApiserver } from "../real-kubernetes/index.ts";
import { eventually, Lab, leftovers, type Node, timed, workerImages } from "./harness/index.ts";

/** The yardstick: real nodes on a control plane made by kubeadm's own means. It proves machines, images and pod network. */
let lab: Lab;
let real: RealKubernetes;
let nodes: Node[];

const manifest = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

async function kubectl(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await real.kubectl(...args);
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
  return stdout;
}

const readyNodes = async (): Promise<number> =>
  (await kubectl("get", "nodes", "--no-headers")).split("\n").filter((line) => /\sReady\s/.test(line)).length;

const rolledOut = (what: string, namespace: string): Promise<string> =>
  kubectl("-n", namespace, "rollout", "status", what, "--timeout=120s");

beforeAll(async () => {
  lab = await Lab.open();
  nodes = ["n1", "n2"].map((name) => lab.addNode(name));
});
afterAll(async () => {
  await real?.stop();
  await lab?.close();
});

test("two hosts join with plain kubeadm join and become Ready through the pod network's DaemonSet", async () => {
  const booted = timed("two nodes booted, images imported", async () => {
    await Promise.all(nodes.map((node) => node.start()));
    await Promise.all(nodes.map((node) => node.importImages(workerImages.map((name) => lab.images[name]))));
  });
  real = await timed("control plane ready", () =>
    startKubeApiserver({ address: lab.gateway, controllerManager: true, scheduler: true }),
  );
  const join = await timed("objects for kubeadm join, addons", () => prepareForJoin(real));
  await kubectl("apply", "-f", manifest("cni.yaml"));
  await booted;
  const outputs = await timed("kubeadm join on both", () =>
    Promise.all(nodes.map((node) => node.must(join, { timeout: 120_000 }))),
  );
  for (const output of outputs) expect(output).toContain("This node has joined the cluster");
  await timed("both Ready", () => eventually("two Ready nodes", async () => (await readyNodes()) === 2));
});

test("CoreDNS, kube-proxy and a Deployment run, its Service answers by name from both nodes", async () => {
  await kubectl("apply", "-f", manifest("web.yaml"));
  await timed("kube-proxy", () => rolledOut("daemonset/kube-proxy", "kube-system"));
  await timed("web", () => rolledOut("deployment/web", "default"));
  await timed("coredns", () => rolledOut("deployment/coredns", "kube-system"));
  const pods = (await kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n");
  expect(pods).toHaveLength(2);
  const hosts = await kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}");
  expect(hosts.split(" ").toSorted()).toEqual(["n1", "n2"]);
  const seen = new Set<string>();
  await timed("Service over DNS", () =>
    eventually("answers of both pods", async () => {
      const ask = ["timeout", "5", "wget", "-qO-", "http://web.default.svc.cluster.local/"];
      for (const pod of pods) seen.add((await kubectl("exec", pod, "--", ...ask)).trim());
      return seen.size === 2;
    }),
  );
  expect([...seen].toSorted()).toEqual(pods.map((pod) => pod.replace("pod/", "")).toSorted());
  for (const pod of pods) expect(await kubectl("logs", pod)).toBe(`serving as ${pod.replace("pod/", "")}\n`);
});

test("a node port answers from outside, on every node", async () => {
  for (const node of nodes) {
    const response = await fetch(`http://${node.address}:30080/`);
    expect(await response.text()).toMatch(/^web-/);
  }
});

test("a node that lost power comes back with its identity and its pod", async () => {
  const [first] = nodes;
  if (first === undefined) throw new Error("no node");
  await first.powerOff();
  await timed("boot after the power cut", () => first.start());
  await timed("pod answers again", () =>
    eventually("answer through the node", async () => {
      const response = await fetch(`http://${first.address}:30080/`, { signal: AbortSignal.timeout(2000) });
      return response.ok;
    }),
  );
  await rolledOut("deployment/web", "default");
  expect(await kubectl("get", "nodes", "-o", "name")).toBe("node/n1\nnode/n2\n");
});

test("routes to a node go away with it", async () => {
  const [first, second] = nodes;
  const gone = await kubectl("get", "node", "n2", "-o", "jsonpath={.spec.podCIDR}");
  const routes = async (): Promise<string> => (await first?.must(["ip", "route"])) ?? "";
  await eventually("route back after the boot", async () =>
    (await routes()).includes(`${gone} via ${second?.address}`),
  );
  await kubectl("delete", "node", "n2");
  await eventually("route removed", async () => !(await routes()).includes(gone));
});

test("nothing is left behind", async () => {
  await real.stop();
  await lab.close();
  expect(await leftovers(lab.id)).toEqual([]);
});
