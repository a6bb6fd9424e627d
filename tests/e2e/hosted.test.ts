import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { Capstan } from "./capstan/instance.ts";
import { eventually, Lab, leftovers, type Node, timed, workerImages } from "./harness/index.ts";

/** The story of the mission: one file, a control plane that costs no machine, and ordinary hosts that join it. */
let lab: Lab;
let capstan: Capstan;
let nodes: Node[];
let workload: string;
let booted: Promise<unknown>;

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const example = fileURLToPath(new URL("../../docs/examples/hosted.yaml", import.meta.url));
const TOKEN = "abcdef.0123456789abcdef";

/** kubectl against the hosted cluster. */
const kubectl = (...args: string[]): Promise<string> =>
  mustRun(join(kubernetesBin(), "kubectl"), [
    "--kubeconfig",
    workload,
    "--cache-dir",
    join(tmpdir(), `kubectl-${lab.id}`),
    ...args,
  ]);

const readyNodes = async (): Promise<number> =>
  (await kubectl("get", "nodes", "--no-headers")).split("\n").filter((line) => /\sReady\s/.test(line)).length;

beforeAll(async () => {
  lab = await Lab.open();
  nodes = ["n1", "n2"].map((name) => lab.addNode(name));
  capstan = await timed("capstan up", () => Capstan.start(lab.gateway));
  workload = join(mkdtempSync(join(tmpdir(), "capstan-workload-")), "kubeconfig");
});

afterAll(async () => {
  await booted?.catch(() => undefined);
  await capstan?.close();
  await lab?.close();
});

test("one file with Cluster and HostedControlPlane leads to a ready API", async () => {
  booted = timed("two nodes booted, images imported", async () => {
    await Promise.all(nodes.map((node) => node.start()));
    await Promise.all(nodes.map((node) => node.importImages(workerImages.map((name) => lab.images[name]))));
  });
  await capstan.kubectl("apply", "-f", example);
  await timed("applied to Available", () =>
    capstan.kubectl("wait", "--for=condition=Available", "cluster/demo", "--timeout=60s"),
  );
  const secret = await capstan.kubectl("get", "secret", "demo-kubeconfig", "-o", "jsonpath={.data.value}");
  writeFileSync(workload, Buffer.from(secret, "base64"), { mode: 0o600 });
  expect(await kubectl("get", "--raw", "/readyz")).toBe("ok");
  await booted;
});

test("hosts join with plain kubeadm join and become Ready", async () => {
  await kubectl("apply", "-f", file("cni.yaml"));
  await kubectl(
    "-n",
    "kube-system",
    "create",
    "secret",
    "generic",
    "bootstrap-token-abcdef",
    "--type=bootstrap.kubernetes.io/token",
    "--from-literal=token-id=abcdef",
    "--from-literal=token-secret=0123456789abcdef",
    "--from-literal=usage-bootstrap-authentication=true",
    "--from-literal=usage-bootstrap-signing=true",
    "--from-literal=auth-extra-groups=system:bootstrappers:kubeadm:default-node-token",
  );
  const endpoint = await capstan.kubectl(
    "get",
    "hcp",
    "demo",
    "-o",
    "jsonpath={.spec.controlPlaneEndpoint.host}:{.spec.controlPlaneEndpoint.port}",
  );
  const ca = Buffer.from(
    await capstan.kubectl("get", "secret", "demo-ca", "-o", "jsonpath={.data.tls\\.crt}"),
    "base64",
  );
  const caFile = join(lab.dir, "ca.crt");
  writeFileSync(caFile, ca);
  const key = await mustRun("sh", [
    "-c",
    `openssl x509 -pubkey -noout -in ${caFile} | openssl pkey -pubin -outform der | sha256sum | cut -d' ' -f1`,
  ]);
  const join_ = [
    "kubeadm",
    "join",
    endpoint,
    "--token",
    TOKEN,
    "--discovery-token-ca-cert-hash",
    `sha256:${key.trim()}`,
  ];
  const outputs = await timed("kubeadm join on both", () =>
    Promise.all(nodes.map((node) => node.must(join_, { timeout: 120_000 }))),
  );
  for (const output of outputs) expect(output).toContain("This node has joined the cluster");
  await timed("both Ready", () => eventually("two Ready nodes", async () => (await readyNodes()) === 2));
});

test("CoreDNS, kube-proxy and a Deployment run; its Service answers by name, logs and exec work", async () => {
  const rolledOut = (what: string, namespace: string): Promise<string> =>
    kubectl("-n", namespace, "rollout", "status", what, "--timeout=120s");
  await kubectl("apply", "-f", file("web.yaml"));
  await timed("kube-proxy", () => rolledOut("daemonset/kube-proxy", "kube-system"));
  await timed("web", () => rolledOut("deployment/web", "default"));
  await timed("coredns", () => rolledOut("deployment/coredns", "kube-system"));
  const pods = (await kubectl("get", "pods", "-l", "app=web", "-o", "name")).trim().split("\n");
  expect(pods).toHaveLength(2);
  const seen = new Set<string>();
  await timed("Service over DNS", () =>
    eventually("answers of both pods", async () => {
      const ask = ["timeout", "5", "wget", "-qO-", "http://web.default.svc.cluster.local/"];
      for (const pod of pods) seen.add((await kubectl("exec", pod, "--", ...ask)).trim());
      return seen.size === 2;
    }),
  );
  for (const pod of pods) expect(await kubectl("logs", pod)).toContain("serving as");
});

test("describe shows the cluster, Available", async () => {
  const tree = await capstan.cli("describe", "cluster", "demo");
  expect(tree).toMatch(/Cluster\/demo\s+Available: True/);
  expect(tree).toMatch(/ControlPlane - HostedControlPlane\/demo\s+Available: True/);
});

test("deleting the Cluster leaves no process and no file", async () => {
  await timed("cluster deleted", () => capstan.kubectl("delete", "cluster", "demo", "--timeout=60s"));
  const left = await mustRun("sh", [
    "-c",
    `ps axww -o args | grep -F ${capstan.dataDir}/clusters | grep -v grep || true`,
  ]);
  expect(left).toBe("");
  expect(await mustRun("find", [join(capstan.dataDir, "clusters"), "-type", "f"])).toBe("");
  await capstan.close();
  await lab.close();
  expect(await leftovers(lab.id)).toEqual([]);
  rmSync(join(workload, ".."), { recursive: true, force: true });
});
