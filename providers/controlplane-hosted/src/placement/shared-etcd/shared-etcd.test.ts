import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type Authorities, clusterNetwork } from "@capstan/controlplane";
import { createCertificateAuthority, createServiceAccountKey, parseCertificate } from "@capstan/pki";
import { PortAllocator, SimulatedEtcd, UserIds } from "@capstan/workloads";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { FakeTenants } from "../../testing/fake-tenants.ts";
import { FakeWorkloads } from "../../testing/fake-workloads.ts";
import { leafFile } from "../leaf-store.ts";
import type { ControlPlanePlan, PlacementState } from "../placement.ts";
import { ProcessPlacement } from "../process/process.ts";
import type { SharedEtcdRecord } from "./record.ts";
import { tenantOf } from "./shared-etcd.ts";

const MIB = 1024 ** 2;
const random = seededRandom(11);
let clock: VirtualClock;
let root: string;
let programs: string;
let workloads: FakeWorkloads;
let tenants: FakeTenants;
let placement: ProcessPlacement;
let authorities: Authorities;

beforeAll(async () => {
  const ca = (commonName: string) =>
    createCertificateAuthority({ commonName, notBeforeMs: new VirtualClock().now(), validMs: 1e11, random });
  authorities = {
    cluster: await ca("kubernetes"),
    etcd: await ca("etcd-ca"),
    frontProxy: await ca("front-proxy-ca"),
    serviceAccount: await createServiceAccountKey("ECDSA-P256"),
  };
});

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "capstan-shared-"));
  programs = await mkdtemp(join(tmpdir(), "capstan-programs-"));
  clock = new VirtualClock();
  workloads = new FakeWorkloads(root);
  tenants = new FakeTenants();
  restartManager();
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
  await rm(programs, { recursive: true, force: true });
});

function restartManager(): void {
  const etcd = new SimulatedEtcd();
  workloads.onStart = async (program) => etcd.start(program);
  placement = new ProcessPlacement({
    root,
    workloads,
    ports: new PortAllocator(root),
    binaries: {
      find: async (version) => {
        // An etcd that says which one it is.
        const dir = join(programs, version);
        await mkdir(dir, { recursive: true });
        const release = version.startsWith("v1.35") ? "3.7.0" : "3.6.0";
        await writeFile(join(dir, "etcd"), `#!/bin/sh\necho etcd Version: ${release}\n`, { mode: 0o755 });
        return { dir };
      },
    },
    userIds: new UserIds(root, join(programs, "user-ids")),
    defaultAddress: "127.0.0.1",
    clock,
    random,
    client: () => etcd,
    tenants: () => tenants,
  });
}

type Etcd = NonNullable<ControlPlanePlan["spec"]["etcd"]>;
function plan(owner: string, etcd: Partial<Etcd> = {}, more: Partial<ControlPlanePlan> = {}): ControlPlanePlan {
  const version = more.version ?? "v1.34.4";
  return {
    owner,
    objectUid: `uid of ${owner}`,
    clusterName: owner.split("/")[1] ?? "",
    spec: { version, etcd: { shared: { name: "main" }, ...etcd } },
    version,
    endpoint: { host: "127.0.0.1", port: 6443 + Number(/\d+$/.exec(owner)?.[0] ?? 0) },
    network: clusterNetwork(undefined),
    authorities,
    userFiles: { apiServer: {}, controllerManager: {}, scheduler: {} },
    ...more,
  };
}

const ensure = (...args: Parameters<typeof plan>): Promise<PlacementState> => placement.ensure(plan(...args));
const remove = (owner: string): Promise<string[]> => placement.remove(owner, plan(owner));
const files = (owner: string): Record<string, string> =>
  workloads.running.get(`${owner}/kube-apiserver`)?.program.secretFiles ?? {};
const store = "shared_etcd/main";
const record = async (): Promise<SharedEtcdRecord> =>
  JSON.parse(await readFile(join(root, store, "shared.json"), "utf8")) as SharedEtcdRecord;

test("two control planes share one etcd, each with its own prefix and user", async () => {
  expect((await ensure("default/c1")).apiReady).toBe(true);
  expect((await ensure("default/c2")).apiReady).toBe(true);
  const etcds = [...workloads.running.values()].filter(({ program }) => program.id.name === "etcd");
  expect(etcds.map(({ program }) => program.id.owner)).toEqual([store]);
  expect(tenants.secured).toBe(1);
  expect([...tenants.users]).toEqual([
    ["tenant:default/c1", "write"],
    ["tenant:default/c2", "write"],
  ]);
  const args = workloads.args("default/c2", "kube-apiserver");
  expect(args).toContain("--etcd-prefix=/default/c2");
  expect(args).toContain("--etcd-compaction-interval=0s");
  expect(workloads.args(store, "etcd")).toContain("--auto-compaction-retention=5m");
  const ca = parseCertificate(files("default/c1")["etcd/ca.crt"] ?? "");
  const own = parseCertificate(files("default/c1")["apiserver-etcd-client.crt"] ?? "");
  expect(own.subject.commonName).toBe("tenant:default/c1");
  expect(own.issuer).toEqual(ca.subject);
  expect(files("default/c2")["etcd/ca.crt"]).toBe(files("default/c1")["etcd/ca.crt"]);
  for (const owner of ["default/c1", "default/c2"])
    for (const [name, text] of Object.entries(files(owner)))
      if (text.includes("CERTIFICATE"))
        expect(parseCertificate(text).subject.commonName, `${name}: nothing that poses as etcd`).not.toMatch(
          /^(etcd|root)$/,
        );
  // Nor is one issued: the shared CA signs nothing else for a tenant.
  const made = await leafFile(join(root, "default/c1")).load();
  expect(Object.keys(JSON.parse(made ?? "{}")).filter((name) => name.includes("etcd"))).toEqual([
    "apiserver-etcd-client",
  ]);
  workloads.news();
  await ensure("default/c1");
  restartManager();
  await ensure("default/c2");
  expect(workloads.news(), "a second pass does nothing").toEqual([]);
});

test("does not start kube-apiserver before etcd has granted it access", async () => {
  workloads.fate = ({ id }) => (id.owner === store ? { phase: "Starting" } : undefined);
  const state = await ensure("default/c1");
  expect(state.apiReady).toBe(false);
  expect(workloads.news()).toEqual(["start etcd"]);
  workloads.fate = () => ({ phase: "Ready" });
  expect((await ensure("default/c1")).apiReady).toBe(true);
});

test("no prefix is a prefix of another", () => {
  expect("/default/c10/".startsWith(tenantOf("default/c1").prefix)).toBe(false);
  expect(tenantOf("a/b-c")).not.toEqual(tenantOf("a-b/c"));
});

test("deletes the data of a deleted tenant only; deletes etcd with the last tenant", async () => {
  await ensure("default/c1");
  await ensure("default/c10");
  tenants.data.set("/default/c1/x", "1");
  tenants.data.set("/default/c10/x", "10");
  await remove("default/c1");
  expect([...tenants.data.keys()]).toEqual(["/default/c10/x"]);
  expect([...tenants.users.keys()]).toEqual(["tenant:default/c10"]);
  expect(Object.keys((await record()).tenants)).toEqual(["default/c10"]);
  await remove("default/c10");
  expect(workloads.running.size).toBe(0);
  expect(existsSync(join(root, store))).toBe(false);
  const claims = (await readdir(join(programs, "user-ids"))).map((name) => join(programs, "user-ids", name));
  expect(claims, "the highest id, from which to count").toHaveLength(1);
  expect(await readFile(claims[0] ?? "", "utf8"), "taken by no one").toBe("");
});

test("deletion does not wait for an unavailable etcd; the data is deleted when it recovers, before the name is reused", async () => {
  await ensure("default/c1");
  await ensure("default/c2");
  tenants.data.set("/default/c1/secret", "old");
  tenants.down = true;
  expect(await remove("default/c1")).toEqual([]);
  const reserved = await placement.reserve(plan("default/c1", {}, { objectUid: "another" }));
  expect(reserved.type, "data to be deleted has no owner").toBe("reserved");
  tenants.down = false;
  const state = await ensure("default/c1", {}, { objectUid: "another" });
  expect(state.apiReady).toBe(true);
  expect(tenants.data.size).toBe(0);
});

test("a tenant above its quota is read-only until the quota is raised", async () => {
  await ensure("default/c1", { quotaBytes: 16 * MIB });
  tenants.data.set("/default/c1/big", "x".repeat(17 * MIB));
  expect((await ensure("default/c1", { quotaBytes: 16 * MIB })).etcd, "not measured in every pass").toBeUndefined();
  await clock.advance(60_000);
  const state = await ensure("default/c1", { quotaBytes: 16 * MIB });
  expect(state.etcd?.reason).toBe("QuotaExceeded");
  expect(state.etcd?.message).toContain("17.0 MiB of at most 16.0 MiB");
  expect(tenants.users.get("tenant:default/c1")).toBe("read");
  restartManager();
  expect((await ensure("default/c1", { quotaBytes: 16 * MIB })).etcd?.reason).toBe("QuotaExceeded");
  expect((await ensure("default/c1", { quotaBytes: 32 * MIB })).etcd).toBeUndefined();
  expect(tenants.users.get("tenant:default/c1")).toBe("write");
});

test("does not count the data of other tenants", async () => {
  await ensure("default/c1", { quotaBytes: 16 * MIB });
  await ensure("default/c2");
  tenants.data.set("/default/c2/big", "x".repeat(20 * MIB));
  await clock.advance(60_000);
  expect((await ensure("default/c1", { quotaBytes: 16 * MIB })).etcd).toBeUndefined();
});

test("does not reserve more than the total size", async () => {
  await ensure("default/c1", { quotaBytes: 5120 * MIB });
  const state = await ensure("default/c2", { quotaBytes: 2048 * MIB });
  expect(state.problem?.reason).toBe("SharedEtcdFull");
  expect(Object.keys((await record()).tenants)).toEqual(["default/c1"]);
  expect((await ensure("default/c2")).apiReady).toBe(true);
  const raised = await ensure("default/c2", { quotaBytes: 2048 * MIB });
  expect(raised.apiReady, "continues with its quota").toBe(true);
  expect(raised.etcd?.reason).toBe("SharedEtcdFull");
});

test("backs up and restores only the tenant's part, also under another name", async () => {
  await ensure("default/c1");
  await ensure("default/c2");
  tenants.data.set("/default/c1/a", "1");
  tenants.data.set("/default/c2/a", "2");
  const file = join(root, "backup");
  await placement.snapshot(plan("default/c1"), file);
  tenants.data.set("/default/c1/a", "changed");
  tenants.data.set("/default/c1/later", "x");
  const restore = { name: "default/c1/b1", snapshotFile: async () => file };
  workloads.news();
  await ensure("default/c1", {}, { restore });
  expect(Object.fromEntries(tenants.data)).toEqual({ "/default/c1/a": "1", "/default/c2/a": "2" });
  expect(workloads.news().slice(0, 3), "no control plane uses it meanwhile").toEqual([
    "stop kube-scheduler",
    "stop kube-controller-manager",
    "stop kube-apiserver",
  ]);
  tenants.data.set("/default/c1/a", "new");
  await ensure("default/c1", {}, { restore });
  expect(tenants.data.get("/default/c1/a"), "once").toBe("new");
  await ensure("default/c3", {}, { restore });
  expect(tenants.data.get("/default/c3/a")).toBe("1");
});

test("rejects backups of the other kind of etcd, and stops nothing", async () => {
  await ensure("default/c1");
  const whole = join(root, "whole");
  await writeFile(whole, "a snapshot of etcd");
  workloads.news();
  const refused = await ensure("default/c1", {}, { restore: { name: "w", snapshotFile: async () => whole } });
  expect(refused.problem?.reason).toBe("BackupNotUsable");
  const part = join(root, "part");
  await placement.snapshot(plan("default/c1"), part);
  const own = plan("default/own", {}, { restore: { name: "p", snapshotFile: async () => part } });
  const other = await placement.ensure({ ...own, spec: { version: "v1.34.4" } });
  expect(other.problem?.reason).toBe("BackupNotUsable");
  expect(workloads.news()).toEqual([]);
});

test("does not start a shared etcd empty that lost its data; a new one requires a backup of each earlier tenant", async () => {
  await ensure("default/c1");
  await rm(join(root, store, "etcd/data"), { recursive: true });
  expect((await ensure("default/c1")).problem?.reason).toBe("DataLost");
  const password = (await record()).rootPassword;
  await workloads.removeOwner(store);
  expect((await ensure("default/c1")).problem?.reason).toBe("DataLost");
  expect((await ensure("default/c2")).apiReady, "accepts another tenant").toBe(true);
  expect(tenants.secured, "the new one authenticates clients too").toBe(2);
  expect((await record()).rootPassword).not.toBe(password);
});

test("does not move data: shared is neither added nor changed later", async () => {
  await ensure("default/c1");
  expect((await ensure("default/c1", { shared: { name: "other" } })).problem?.reason).toBe("EtcdFixed");
  expect((await placement.ensure({ ...plan("default/c1"), spec: { version: "v1.34.4" } })).problem?.reason).toBe(
    "EtcdFixed",
  );
});

test("does not use what an earlier control plane of the same name left in a shared etcd", async () => {
  await ensure("default/c1");
  await ensure("default/c2");
  await rm(join(root, "default/c1"), { recursive: true });
  const request = { owner: "default/c1", spec: plan("default/c1").spec, endpoint: undefined, objectUid: "another" };
  expect(await placement.reserve(request)).toMatchObject({ type: "failed", reason: "LeftoverData" });
  tenants.data.set("/default/c1/x", "old");
  await placement.reserve({ ...request, discardLeftovers: true });
  expect(tenants.data.size).toBe(0);
});

test("replaces etcd for a tenant with a newer version, and not for one with an older", async () => {
  await ensure("default/c1");
  workloads.news();
  await ensure("default/c2", {}, { version: "v1.34.5" });
  expect(workloads.news(), "the same etcd").not.toContain("restart etcd");
  await ensure("default/c3", {}, { version: "v1.35.0" });
  expect(workloads.news()).toEqual(expect.arrayContaining(["start etcd-next", "stop etcd", "start etcd"]));
  await ensure("default/c1");
  expect(workloads.news()).toEqual([]);
});

test("a change of the shared etcd affects all its tenants", async () => {
  let tell: (id: { owner: string; name: string }) => void = () => undefined;
  workloads.subscribe = ((listener: typeof tell) => {
    tell = listener;
    return () => undefined;
  }) as typeof workloads.subscribe;
  const told: string[] = [];
  placement.subscribe((owner) => told.push(owner));
  await ensure("default/c1");
  await ensure("default/c2");
  tell({ owner: store, name: "etcd" });
  tell({ owner: "default/c9", name: "etcd" });
  expect(told).toEqual(["default/c1", "default/c2", "default/c9"]);
});

test("a manager that is killed after any call to etcd continues where it stopped", async () => {
  const whole = tenants;
  let calls = 0;
  let dies = 0;
  const dying = new Proxy(whole, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      if (!/^(secure|admit|expel|clear|write)$/.test(String(name))) return value.bind(target);
      return async (...args: unknown[]) => {
        await (value as (...all: unknown[]) => Promise<void>).apply(target, args);
        if (calls++ % 5 < 2) {
          dies++;
          throw new Error("killed");
        }
      };
    },
  });
  tenants = dying;
  const settled = async (...args: Parameters<typeof plan>): Promise<PlacementState> => {
    for (let pass = 0; pass < 20; pass++) {
      restartManager();
      const state = await ensure(...args).catch(() => undefined);
      if (state?.apiReady === true && state.etcd === undefined) return state;
      await clock.advance(1000);
    }
    throw new Error("did not settle");
  };
  await settled("default/c1");
  await settled("default/c2");
  whole.data.set("/default/c1/a", "1");
  whole.data.set("/default/c2/a", "2");
  const file = join(root, "backup");
  await placement.snapshot(plan("default/c1"), file);
  whole.data.set("/default/c1/b", "later");
  await settled("default/c1", {}, { restore: { name: "b", snapshotFile: async () => file } });
  restartManager();
  await remove("default/c2");
  await settled("default/c1", {}, { restore: { name: "b", snapshotFile: async () => file } });
  expect(Object.fromEntries(whole.data)).toEqual({ "/default/c1/a": "1" });
  expect([...whole.users]).toEqual([["tenant:default/c1", "write"]]);
  expect(Object.keys((await record()).tenants)).toEqual(["default/c1"]);
  expect(dies).toBeGreaterThan(3);
});
