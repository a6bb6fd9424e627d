import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually, timed } from "./harness/index.ts";
import { HostedPlanes } from "./hosted-planes.ts";

/** Control planes that share an etcd, with real components and without nodes: walls between them, quota, backups, deletion. */
const run = promisify(execFile);
const scratch = mkdtempSync(join(tmpdir(), "capstan-shared-"));
const QUOTA = 16_777_216;
let planes: HostedPlanes;

beforeAll(async () => {
  planes = await HostedPlanes.start();
});

afterAll(async () => {
  await planes?.close();
  rmSync(scratch, { recursive: true, force: true });
});

const store = (): string => join(planes.capstan.dataDir, "clusters/shared_etcd/main");
const etcdPid = (): number =>
  (JSON.parse(readFileSync(join(store(), "etcd/process.json"), "utf8")) as { pid: number }).pid;

/** Whether a process is running; a zombie has no command line any more. */
function runs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8") !== "";
  } catch {
    return false;
  }
}

async function connect(name: string): Promise<void> {
  writeFileSync(join(scratch, name), await planes.kubeconfig(name), { mode: 0o600 });
}
const kubectl = (name: string, ...args: string[]): Promise<string> => planes.kubectl(join(scratch, name), ...args);

const etcdctl = (name: string, ...args: string[]): Promise<string> => planes.etcdctl(name, args, store());

test("two control planes come up with one etcd", async () => {
  const etcd = { shared: { name: "main" } };
  await planes.create("one", { etcd });
  await planes.create("two", { etcd });
  for (const name of ["one", "two"]) {
    await planes.told(name, "Available", /^True/);
    await connect(name);
    await kubectl(name, "create", "configmap", `of-${name}`);
    expect(existsSync(join(planes.folder(name), "etcd"))).toBe(false);
    expect(readFileSync(`/proc/${planes.pid(name, "kube-apiserver")}/cmdline`, "utf8")).toContain(
      `--etcd-prefix=/default/${name}`,
    );
  }
  expect(await kubectl("two", "get", "configmaps", "-o", "name")).not.toContain("of-one");
});

test("with one's keys the other's data can be neither read, written nor deleted, nor can anything of etcd itself", async () => {
  expect(await etcdctl("two", "get", "/default/two/", "--prefix", "--keys-only")).toContain(
    "configmaps/default/of-two",
  );
  const refused = [
    ["get", "/default/one/", "--prefix", "--keys-only"],
    ["get", "/", "--prefix", "--keys-only"],
    ["get", "", "--from-key", "--keys-only"],
    ["put", "/default/one/registry/x", "y"],
    ["del", "/default/one/", "--prefix"],
    ["put", "/elsewhere", "y"],
    ["user", "list"],
    ["user", "grant-role", "tenant:default/two", "root"],
    ["role", "grant-permission", "tenant:default/two", "readwrite", "/", "--prefix"],
    ["auth", "disable"],
    ["snapshot", "save", join(scratch, "stolen")],
    ["defrag"],
  ];
  for (const args of refused)
    await expect(etcdctl("two", ...args), args.join(" ")).rejects.toThrow(/permission denied/);
  // The manager's own files are closed to them.
  const uid = Number(readFileSync(join(planes.folder("two"), "user-id"), "utf8"));
  for (const path of ["shared.json", "certificates.json", "etcd/data/member", "etcd/files/etcd/server.key"])
    await expect(run("cat", [join(store(), path)], { uid, gid: uid }), path).rejects.toThrow(/Permission denied/);
  expect(await kubectl("one", "get", "configmap", "of-one", "-o", "name")).toContain("of-one");
});

test("its gateway turns tenants away", async () => {
  const files = join(planes.folder("two"), "kube-apiserver/files");
  const ports = JSON.parse(readFileSync(join(store(), "ports.json"), "utf8")) as Record<string, number>;
  const body = JSON.stringify({ key: Buffer.from("/default/two/").toString("base64") });
  const keys = ["--cacert", "etcd/ca.crt", "--cert", "apiserver-etcd-client.crt", "--key", "apiserver-etcd-client.key"];
  const access = keys.map((word) => (word.startsWith("--") ? word : join(files, word)));
  const url = `https://127.0.0.1:${ports["etcdClient0"]}/v3/kv/range`;
  const { stdout } = await run("curl", ["-s", ...access, "-X", "POST", "-d", body, url]);
  expect(stdout).toContain("CommonName of client sending a request against gateway");
});

test("killed, the shared etcd is back by itself and both go on", async () => {
  const before = etcdPid();
  process.kill(before, "SIGKILL");
  await timed("etcd is back", () => eventually("another process", async () => etcdPid() !== before));
  for (const name of ["one", "two"]) {
    await eventually("a write", async () => (await kubectl(name, "create", "configmap", "after-the-kill")) !== "");
    await planes.told(name, "EtcdClusterHealthy", /^True/);
  }
});

test("a backup is the tenant's part and comes back without touching the neighbour", async () => {
  await kubectl("two", "create", "configmap", "kept");
  await planes.capstan.kubectl("annotate", "hcp", "two", "capstan.dev/backup=now");
  const name = await eventually("a backup", async () => {
    const path = "jsonpath={.status.backup.lastName}";
    return (await planes.capstan.kubectl("get", "hcp", "two", "-o", path)) || undefined;
  });
  await kubectl("two", "delete", "configmap", "kept");
  await kubectl("two", "create", "configmap", "later");
  await kubectl("one", "create", "configmap", "later");
  await planes.patch("two", { spec: { etcd: { restoreFrom: { backup: name } } } });
  await timed("restored", () =>
    eventually("what was deleted", async () => (await kubectl("two", "get", "configmap", "kept")) !== "", {
      timeout: 120_000,
    }),
  );
  await expect(kubectl("two", "get", "configmap", "later")).rejects.toThrow(/not found/);
  await kubectl("one", "get", "configmap", "later");
  await planes.told("two", "Available", /^True/);
  await kubectl("two", "create", "configmap", "written-again");
});

test("who has more than it may can only read, and writes again when it may have more; the neighbour notices nothing", async () => {
  const text = "x".repeat(900_000);
  const file = join(scratch, "big.json");
  for (let round = 0; round < 20; round++) {
    const metadata = { name: `big-${round}` };
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { text } }));
    await kubectl("one", "create", "-f", file);
  }
  await planes.patch("one", { spec: { etcd: { quotaBytes: QUOTA } } });
  await planes.told("one", "EtcdClusterHealthy", /^False QuotaExceeded .*spec\.etcd\.quotaBytes/);
  await expect(kubectl("one", "create", "configmap", "one-more")).rejects.toThrow(/permission denied/);
  await kubectl("one", "get", "configmap", "big-1", "-o", "name");
  await kubectl("two", "create", "configmap", "unimpressed");
  await planes.patch("one", { spec: { etcd: { quotaBytes: QUOTA * 2 } } });
  await planes.told("one", "EtcdClusterHealthy", /^True/);
  await kubectl("one", "create", "configmap", "one-more");
});

test("Ctrl-C stops all of it, and the next start restores it", async () => {
  const pids = [planes.pid("one", "kube-apiserver"), planes.pid("two", "kube-apiserver"), etcdPid()];
  await timed("ended", () => planes.capstan.interrupt());
  expect(pids.filter(runs)).toEqual([]);
  await planes.capstan.up();
  for (const name of ["one", "two"]) await planes.told(name, "Available", /^True/);
  await kubectl("two", "get", "configmap", "kept");
});

test("a new manager adopts what is running; deletion removes a control plane's data, and etcd with the last one", async () => {
  const before = etcdPid();
  await planes.capstan.kill();
  await planes.capstan.up();
  await planes.told("one", "Available", /^True/);
  expect(etcdPid()).toBe(before);
  await planes.remove("one");
  expect(etcdPid()).toBe(before);
  await kubectl("two", "get", "configmap", "kept");
  const { tenants } = JSON.parse(readFileSync(join(store(), "shared.json"), "utf8")) as { tenants: object };
  expect(Object.keys(tenants)).toEqual(["default/two"]);
  await planes.create("one", { etcd: { shared: { name: "main" } } });
  await planes.told("one", "Available", /^True/);
  await connect("one");
  await expect(kubectl("one", "get", "configmap", "of-one")).rejects.toThrow(/not found/);
  await Promise.all([planes.remove("one"), planes.remove("two")]);
  expect(existsSync(store())).toBe(false);
  expect(runs(before)).toBe(false);
});
