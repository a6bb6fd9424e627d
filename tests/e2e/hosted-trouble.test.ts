import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePorts, kubernetesBin } from "../real-kubernetes/index.ts";
import type { Capstan } from "./capstan/instance.ts";
import { eventually, timed } from "./harness/index.ts";
import { HostedPlanes } from "./hosted-planes.ts";

/** Hosted control planes in trouble, with real components and without nodes: bad input, lost members, curious neighbours. */
const run = promisify(execFile);
let planes: HostedPlanes;
let capstan: Capstan;

beforeAll(async () => {
  planes = await HostedPlanes.start();
  ({ capstan } = planes);
});

afterAll(async () => {
  await planes?.close();
});

const create = (name: string, spec?: object): Promise<void> => planes.create(name, spec);
const told = (name: string, type: string, text: RegExp): Promise<unknown> => planes.told(name, type, text);
const remove = (name: string): Promise<string> => planes.remove(name);
const folder = (name: string): string => planes.folder(name);
const pid = (name: string, program: string): number => planes.pid(name, program);
const anonymous = (name: string, path: string): Promise<number> => planes.anonymous(name, path);

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
