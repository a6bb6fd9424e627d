import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePorts, kubernetesBin } from "../real-kubernetes/index.ts";
import { Capstan } from "./capstan/instance.ts";
import { eventually, timed } from "./harness/index.ts";

/** Hosted control planes in trouble, with real components and without nodes: bad input, lost members, curious neighbours. */
const run = promisify(execFile);
let capstan: Capstan;

beforeAll(async () => {
  capstan = await Capstan.start("127.0.0.1");
});

afterAll(async () => {
  await capstan?.close();
});

async function create(name: string, spec: object = {}): Promise<void> {
  const objects = [
    {
      apiVersion: "cluster.x-k8s.io/v1beta2",
      kind: "Cluster",
      metadata: { name, namespace: "default" },
      spec: { controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name } },
    },
    {
      apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
      kind: "HostedControlPlane",
      metadata: { name, namespace: "default" },
      spec: { version: "v1.34.4", placement: { type: "Process" }, ...spec },
    },
  ];
  await capstan.kubectlWithInput(objects.map((object) => JSON.stringify(object)).join("\n---\n"), "apply", "-f", "-");
}

const told = (name: string, type: string, text: RegExp): Promise<unknown> =>
  timed(`${name}: ${text.source}`, () =>
    eventually(`${type} of ${name} like ${text.source}`, async () => {
      const path = `{range .status.conditions[?(@.type=="${type}")]}{.status} {.reason} {.message}{end}`;
      const found = await capstan.kubectl("get", "hcp", name, "-o", `jsonpath=${path}`);
      if (!text.test(found)) throw new Error(found);
      return true;
    }),
  );

const remove = (name: string): Promise<string> => capstan.kubectl("delete", "cluster", name, "--timeout=60s");
const folder = (name: string): string => join(capstan.dataDir, "clusters/default", name);
const pid = (name: string, program: string): number =>
  (JSON.parse(readFileSync(join(folder(name), program, "process.json"), "utf8")) as { pid: number }).pid;

/** Status of a GET as nobody. */
async function anonymous(name: string, path: string): Promise<number> {
  const jsonpath = "jsonpath=https://{.spec.controlPlaneEndpoint.host}:{.spec.controlPlaneEndpoint.port}";
  const base = await capstan.kubectl("get", "hcp", name, "-o", jsonpath);
  return await new Promise((resolve, reject) => {
    const call = request(`${base}${path}`, { rejectUnauthorized: false, agent: false, timeout: 5000 }, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    call.on("error", reject);
    call.end();
  });
}

test("an argument that no kube-apiserver knows: its own last line, with growing pauses", async () => {
  await create("flag", { apiServer: { extraArgs: [{ name: "no-such-flag", value: "1" }] } });
  await told("flag", "ControlPlaneComponentsHealthy", /kube-apiserver: ended by itself.*unknown flag: --no-such-flag/s);
  await remove("flag");
});

test("a port that somebody else has is named; freed, the control plane comes up by itself", async () => {
  const [port = 0] = await freePorts(1);
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen(port, "127.0.0.1", resolve);
  });
  await create("port", { controlPlaneEndpoint: { host: "127.0.0.1", port } });
  await told("port", "Available", new RegExp(`^False PortTaken .*127\\.0\\.0\\.1:${port}: EADDRINUSE`));
  await new Promise((resolve) => {
    other.close(resolve);
  });
  await told("port", "Available", /^True/);
  await told("port", "EndpointReachable", /^False LoopbackEndpoint/);
  await remove("port");
});

test("an address that is not this machine's, and programs that are not there", async () => {
  await create("address", { controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 } });
  await told("address", "Available", /^False AddressNotUsable .*192\.0\.2\.1/);
  await create("missing", { version: "v1.34.99" });
  await told("missing", "Available", /^False BinariesMissing .*run: capstan kubernetes install v1\.34\.99/);
  await Promise.all([remove("address"), remove("missing")]);
});

test("with two kube-apiservers and three members of etcd one of each can be killed and the API goes on", async () => {
  await create("ha", { replicas: 2, etcd: { replicas: 3 } });
  await told("ha", "Available", /^True/);
  await eventually("two replicas", async () => {
    const ready = await capstan.kubectl("get", "hcp", "ha", "-o", "jsonpath={.status.readyReplicas}");
    return ready === "2";
  });
  for (const program of ["kube-apiserver-1", "etcd-1"]) {
    const before = pid("ha", program);
    process.kill(before, "SIGKILL");
    const answers: number[] = [];
    await timed(`${program} is back`, () =>
      eventually("another process", async () => {
        answers.push(await anonymous("ha", "/version").catch(() => 0));
        return pid("ha", program) !== before;
      }),
    );
    // The connection that the dead one had just accepted is lost; all others are answered.
    expect(answers.filter((status) => status === 200).length).toBeGreaterThanOrEqual(answers.length - 1);
  }
  await told("ha", "EtcdClusterHealthy", /^True/);
});

test("anonymous may read cluster-info and nothing else", async () => {
  expect(await anonymous("ha", "/api/v1/namespaces/kube-public/configmaps/cluster-info")).toBe(200);
  for (const path of [
    "/api/v1/namespaces/kube-public/configmaps",
    "/api/v1/namespaces/kube-system/configmaps/kubeadm-config",
    "/api/v1/namespaces/kube-system/secrets",
    "/api/v1/nodes",
    "/metrics",
  ])
    expect(await anonymous("ha", path), path).toBe(403);
});

test("a neighbour cannot read files, data or etcd, as its user or with its keys", async () => {
  await create("neighbour");
  await told("neighbour", "Available", /^True/);
  const uid = Number(readFileSync(join(folder("neighbour"), "user-id"), "utf8"));
  expect(uid).not.toBe(Number(readFileSync(join(folder("ha"), "user-id"), "utf8")));
  for (const path of ["kube-apiserver/files/apiserver.key", "etcd/data/member", "ports.json", "certificates.json"]) {
    const read = run("cat", [join(folder("ha"), path)], { uid, gid: uid });
    await expect(read, path).rejects.toThrow(/Permission denied/);
  }
  for (const entry of readdirSync(folder("ha"), { recursive: true, withFileTypes: true }))
    if (entry.isFile()) expect(statSync(join(entry.parentPath, entry.name)).mode & 0o007, entry.name).toBe(0);
  const ports = JSON.parse(readFileSync(join(folder("ha"), "ports.json"), "utf8")) as Record<string, number>;
  const files = join(folder("neighbour"), "kube-apiserver/files");
  const access = ["--cacert", join(folder("ha"), "kube-apiserver/files/etcd/ca.crt")];
  const keys = ["--cert", join(files, "apiserver-etcd-client.crt"), "--key", join(files, "apiserver-etcd-client.key")];
  const get = ["--endpoints", `https://127.0.0.1:${ports["etcdClient0"]}`, "--command-timeout", "2s", "get", "/"];
  await expect(run(join(kubernetesBin(), "etcdctl"), [...access, ...keys, ...get])).rejects.toThrow();
  await Promise.all([remove("neighbour"), remove("ha")]);
  expect(readdirSync(join(capstan.dataDir, "clusters/default"))).toEqual([]);
});
