import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, ConfigMap, Secret, secretText } from "@capstan/capi";
import { Client } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { FakePlacement } from "./testing/fake-placement.ts";
import { HostedPlane } from "./testing/hosted-plane.ts";

const namespace = "default";
const key = { namespace, name: "c1" };
let hosted: HostedPlane;
let plane: HostedPlane["plane"];
let placement: FakePlacement;
let workload: HostedPlane["workload"];
let backupDir: string;

beforeEach(async () => {
  hosted = await HostedPlane.start();
  ({ plane, placement, workload, backupDir } = hosted);
});

afterEach(async () => {
  await hosted.close();
});

const eventually = (check: () => Promise<void>): Promise<void> => hosted.eventually(check);
const told = (type: string, text: string | RegExp): Promise<void> => hosted.told(type, text);
const create = (...args: Parameters<HostedPlane["create"]>): Promise<void> => hosted.create(...args);
const get = (): Promise<HostedControlPlane> => hosted.get();
const condition = (type: string): Promise<string> => hosted.condition(type);
const ready = (version?: string): Promise<void> => hosted.ready(version);

test("turns one object into an API that nodes can join: endpoint, keys, kubeconfig, cluster-info, initialized", async () => {
  await create();
  await eventually(async () =>
    expect((await get()).spec.controlPlaneEndpoint).toEqual({ host: "10.0.0.1", port: 6443 }),
  );
  await told("Available", /^False ComponentsNotReady/);
  await ready();
  await told("Available", "True Available: ");
  const { status } = await get();
  expect(status).toMatchObject({
    initialization: { controlPlaneInitialized: true },
    externalManagedControlPlane: true,
    version: "v1.34.4",
    replicas: 1,
  });
  for (const name of ["ca", "etcd", "proxy", "sa", "kubeconfig"])
    expect(await plane.user.get(Secret, { namespace, name: `c1-${name}` }), name).toBeDefined();
  const inside = new Client(workload.admin(), { fieldManager: "test", clock: plane.clock });
  expect(await inside.get(ConfigMap, { namespace: "kube-public", name: "cluster-info" })).toBeDefined();
});

test("initialized does not depend on a node, because there are no control plane machines", async () => {
  await create();
  await ready();
  expect((await get()).status?.initialization?.controlPlaneInitialized).toBe(true);
  placement.report({ components: [], apiReady: false });
  expect((await get()).status?.initialization?.controlPlaneInitialized).toBe(true);
  await told("Available", /^False/);
});

test("a control plane and its conditions continue while its Cluster is paused", async () => {
  await create();
  await ready();
  const before = (await get()).status;
  await plane.user.patch({ kind: Cluster, ...key }, { spec: { paused: true } });
  await told("Paused", /^True Paused/);
  expect(await condition("Available")).toBe("True Available: ");
  expect((await get()).status).toMatchObject({ replicas: 1, readyReplicas: 1, version: before?.version });
  await plane.user.patch({ kind: Cluster, ...key }, { spec: { paused: false } });
  await told("Paused", /^False/);
  await told("Available", "True Available: ");
});

test.each([
  ["InvalidVersion", { version: "v1.20.0" }, {}, "not supported"],
  ["InvalidNetwork", {}, { clusterNetwork: { services: { cidrBlocks: ["10.244.0.0/20"] } } }, "overlap"],
  [
    "InvalidArgument",
    { apiServer: { extraArgs: [{ name: "etcd-servers", value: "x" }] } },
    {},
    "belongs to the placement",
  ],
  [
    "FilesNotAvailable",
    { apiServer: { files: [{ name: "audit.yaml", contentFrom: { secret: { name: "audit", key: "policy" } } }] } },
    {},
    "Secret audit has no key policy",
  ],
  [
    "FilesNotAvailable",
    {
      apiServer: {
        files: [{ name: "hook.conf", content: "kind: Config\nusers: [{name: u, user: {exec: {command: id}}}]" }],
      },
    },
    {},
    "spec.apiServer.files: hook.conf has users.0..user.exec, which would run a command",
  ],
  ["PlacementNotAvailable", { placement: { type: "Pods" } }, {}, "it offers Process"],
  ["BackupNotFound", { etcd: { restoreFrom: { backup: "20260101T000000Z" } } }, {}, "there are none"],
])("reports %s, and starts nothing", async (reason, spec, cluster, text) => {
  await create(spec, cluster);
  await told("Available", new RegExp(`^False ${reason}: .*${text}`));
  expect(placement.plans).toEqual([]);
});

test.each(["PortTaken", "AddressNotUsable", "LeftoverData"])(
  "reports %s, checks again, and continues once it is solved",
  async (reason) => {
    placement.reservation = { type: "failed", reason, message: "cannot listen on 10.0.0.1:6443: EADDRINUSE" };
    await create();
    await told("Available", `False ${reason}: cannot listen on 10.0.0.1:6443: EADDRINUSE`);
    const tries = placement.reserved.length;
    await plane.clock.advance(60_000);
    expect(placement.reserved.length - tries, "no hot loop").toBeLessThanOrEqual(13);
    placement.reservation = undefined;
    await plane.clock.advance(6000);
    await ready();
    await told("Available", /^True/);
  },
);

test.each([
  ["BinariesMissing", "run: capstan kubernetes install v1.34.4"],
  ["DiskFull", "ENOSPC: no space left on device"],
])("%s is a condition, retried every few seconds", async (reason, message) => {
  placement.state = { components: [], apiReady: false, problem: { reason, message } };
  await create();
  await told("Available", `False ${reason}: ${message}`);
  const tries = placement.plans.length;
  await plane.clock.advance(60_000);
  expect(placement.plans.length - tries).toBeLessThanOrEqual(13);
});

test("reports the last error line of a component that exits immediately", async () => {
  const message = "exited by itself, starting again in 0.4 s; its last error: Error: unknown flag: --nonsense";
  placement.state = { components: [{ name: "kube-apiserver", ready: false, message, restarts: 2 }], apiReady: false };
  await create({ apiServer: { extraArgs: [{ name: "nonsense", value: "1" }] } });
  await eventually(async () => expect(await condition("Available")).toContain("* kube-apiserver: exited by itself"));
  expect(await condition("Available")).toMatch(/unknown flag: --nonsense; correct spec\.apiServer\.extraArgs$/);
  await eventually(async () =>
    expect(await condition("ControlPlaneComponentsHealthy")).toContain("Error: unknown flag: --nonsense"),
  );
});

test("reports an endpoint that only this machine can reach, without blocking anything or hiding other problems", async () => {
  await create({ controlPlaneEndpoint: { host: "127.0.0.1", port: 6443 } });
  await told("Available", /^False/);
  expect(await condition("EndpointReachable")).toBe("none");
  await ready();
  await told("Available", /^True/);
  await told("EndpointReachable", /^False LoopbackEndpoint: .*--node-address/);
});

test("keeps the running version serving if the requested one cannot be reached", async () => {
  await create();
  await ready();
  await plane.user.patch(await get(), { spec: { version: "v1.36.0" } });
  await told("UpToDate", /^False InvalidVersion: .*go to v1.35 first; v1.34.4 keeps serving/);
  await told("Available", /^True/);
  expect(placement.plans.at(-1)?.version).toBe("v1.34.4");
});

test("nodes get the serving version during an upgrade, and the new one afterwards", async () => {
  await create();
  await ready();
  const inside = new Client(workload.admin(), { fieldManager: "test", clock: plane.clock });
  const version = async (): Promise<string> => {
    const config = await inside.get(ConfigMap, { namespace: "kube-system", name: "kubeadm-config" });
    return /kubernetesVersion: (\S+)/.exec(config?.data?.["ClusterConfiguration"] ?? "")?.[1] ?? "";
  };
  placement.state = { ...FakePlacement.ready(), upgrade: { reason: "Upgrading", message: "starting" } };
  await plane.user.patch(await get(), { spec: { version: "v1.35.0" } });
  await told("UpToDate", "False Upgrading: starting");
  expect((await get()).status).toMatchObject({ version: "v1.34.4", upToDateReplicas: 0 });
  expect(await version()).toBe("v1.34.4");
  await ready("v1.35.0");
  await told("UpToDate", /^True/);
  await eventually(async () => expect(await version()).toBe("v1.35.0"));
});

test("takes backups on schedule and on demand, with the keys, and keeps a number of them", async () => {
  await create({ etcd: { backup: { schedule: "0 * * * *", keep: 2 } } });
  await ready();
  await told("BackedUp", /^False NoBackupYet/);
  for (let hour = 1; hour <= 4; hour++) {
    await plane.clock.advance(3600_000);
    await eventually(async () => expect(placement.snapshots).toHaveLength(hour));
    await told("BackedUp", /^True/);
    await eventually(async () =>
      expect((await get()).status?.backup).toMatchObject({
        count: Math.min(hour, 2),
        lastName: `20260101T0${hour}0000Z`,
      }),
    );
  }
  await eventually(async () => expect(await readdir(join(backupDir, "default/c1"))).toHaveLength(2));
  await plane.user.patch(await get(), { metadata: { annotations: { "capstan.dev/backup": "now" } } });
  await eventually(async () => expect((await get()).metadata.annotations?.["capstan.dev/backup"]).toBeUndefined());
  expect(placement.snapshots).toHaveLength(5);
  const after = await get();
  expect(after.status?.backup).toMatchObject({ count: 2, location: backupDir });
  const description = await readFile(
    join(backupDir, "default/c1", after.status?.backup?.lastName ?? "", "control-plane.json"),
    "utf8",
  );
  const ca = secretText(await plane.user.get(Secret, { namespace, name: "c1-ca" }), "tls.crt");
  expect(JSON.parse(description)).toMatchObject({ authorities: { cluster: { certPem: ca } } });
});

test("restores the keys and the endpoint of a backup into a new control plane", async () => {
  await create({}, {}, { annotations: { "capstan.dev/backup": "now" } });
  await ready();
  await told("BackedUp", /^True/);
  const backup = (await get()).status?.backup?.lastName ?? "";
  const ca = secretText(await plane.user.get(Secret, { namespace, name: "c1-ca" }), "tls.crt");
  await plane.user.create({
    apiVersion: Cluster.apiVersion,
    kind: "Cluster",
    metadata: { namespace, name: "c2" },
    spec: { controlPlaneRef: { apiGroup: HostedControlPlane.group, kind: HostedControlPlane.kind, name: "c2" } },
  } as Unstructured);
  const cluster = await plane.user.get(Cluster, { namespace, name: "c2" });
  await plane.user.create({
    apiVersion: HostedControlPlane.apiVersion,
    kind: HostedControlPlane.kind,
    metadata: {
      namespace,
      name: "c2",
      ownerReferences: [{ apiVersion: Cluster.apiVersion, kind: "Cluster", name: "c2", uid: cluster?.metadata.uid }],
    },
    spec: { version: "v1.34.4", etcd: { restoreFrom: { controlPlane: "c1", backup } } },
  } as Unstructured);
  await eventually(async () => expect(placement.plans.at(-1)?.restore?.name).toBe(`default/c1/${backup}`));
  expect(secretText(await plane.user.get(Secret, { namespace, name: "c2-ca" }), "tls.crt")).toBe(ca);
});

test("keeps the backup that a control plane was restored from; without it the control plane keeps serving and reports that", async () => {
  await create({ etcd: { backup: { schedule: "0 * * * *", keep: 1 } } });
  await ready();
  const backup = "20260101T010000Z";
  for (let hour = 1; hour <= 3; hour++) {
    // To the hour and no further: files are read in real time, and the backup is named after the moment at which it begins.
    await plane.clock.advance(Date.parse(`2026-01-01T0${hour}:00:00Z`) - plane.clock.now());
    await eventually(async () =>
      expect((await get()).status?.backup).toMatchObject({ lastName: `20260101T0${hour}0000Z` }),
    );
    if (hour === 1) await plane.user.patch(await get(), { spec: { etcd: { restoreFrom: { backup } } } });
  }
  await eventually(async () =>
    expect((await readdir(join(backupDir, "default/c1"))).toSorted()).toEqual([backup, "20260101T030000Z"]),
  );
  expect(placement.plans.at(-1)?.restore?.name).toBe(`default/c1/${backup}`);
  await rm(join(backupDir, "default/c1", backup), { recursive: true });
  placement.report(FakePlacement.ready());
  await told("UpToDate", /^False BackupNotFound: .*there are 20260101T030000Z; the current data keeps serving/);
  await told("Available", /^True/);
  expect(placement.plans.at(-1)?.restore).toBeUndefined();
});

test("hibernates a serving control plane even if its spec is invalid", async () => {
  await create();
  await ready();
  await told("Available", /^True/);
  const wrong = { apiServer: { extraArgs: [{ name: "etcd-servers", value: "x" }] } };
  await plane.user.patch(await get(), { spec: { ...wrong, replicas: 0 } });
  await told("Available", /^False Hibernated/);
  expect(placement.hibernated).toContain("default/c1");
});

test("hibernates with 0 replicas; deletion removes everything and waits for what is left", async () => {
  await create();
  await ready();
  await plane.user.patch(await get(), { spec: { replicas: 0 } });
  await told("Available", /^False Hibernated/);
  expect(placement.hibernated).toContain("default/c1");
  placement.left = ["etcd"];
  const remove = placement.remove.bind(placement);
  placement.remove = () => Promise.reject(new Error("EBUSY: resource busy, rmdir 'data'"));
  await plane.user.delete(await get());
  await told(
    "Deleting",
    "True Deleting: Removing the control plane failed and will be retried: EBUSY: resource busy, rmdir 'data'",
  );
  placement.remove = remove;
  await told("Deleting", "True Deleting: Waiting for etcd to be deleted");
  placement.left = [];
  placement.report({ components: [], apiReady: false });
  await eventually(async () => expect(await plane.user.get(HostedControlPlane, key)).toBeUndefined());
});
