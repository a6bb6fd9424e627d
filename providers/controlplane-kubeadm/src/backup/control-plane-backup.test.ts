import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Unstructured } from "@capstan/apimachinery";
import { DirectoryStore } from "@capstan/backup";
import { BACKUP_ANNOTATION } from "@capstan/controlplane";
import { openDialGate } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ControlPlaneBackup } from "../kinds/control-plane-backup.ts";
import { FakeWays } from "../testing/fake-ways.ts";
import { conditionText, NAMESPACE, World } from "../testing/world.ts";
import { BackupOrigins } from "./backup-origins.ts";
import { controlPlaneBackupController } from "./controller.ts";

const TEN_MINUTES_MS = 600_000;

let dir: string;
let ways: FakeWays;
let world: World;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-backup-"));
  ways = new FakeWays();
  world = await World.start({
    kinds: [ControlPlaneBackup],
    controllers: () => [
      controlPlaneBackupController({
        ways,
        place: { dir, gate: openDialGate() },
        origins: new BackupOrigins(),
        named: () => new Set(),
      }),
    ],
  });
});
afterEach(async () => {
  await world.close();
  await rm(dir, { recursive: true, force: true });
});

async function addBackup(name: string, spec: object): Promise<void> {
  const { apiVersion, kind } = ControlPlaneBackup;
  const metadata = { namespace: NAMESPACE, name };
  await world.user.create({ apiVersion, kind, metadata, spec: { clusterName: "c1", ...spec } } as Unstructured);
}

async function backup(name = "b1"): Promise<ControlPlaneBackup> {
  const found = await world.user.get(ControlPlaneBackup, { namespace: NAMESPACE, name });
  if (found === undefined) throw new Error(`no ControlPlaneBackup ${name}`);
  return found;
}

/** Waits for files, which are written in real time: virtual time stands still meanwhile, so that no further backup becomes due. */
async function written(check: () => Promise<boolean>): Promise<void> {
  await vi.waitFor(
    async () => {
      await world.plane.settle(1);
      if (!(await check())) throw new Error(JSON.stringify((await backup()).status));
    },
    { timeout: 30_000, interval: 1 },
  );
}

const backedUp = async (name?: string): Promise<string> => conditionText(await backup(name), "BackedUp");

test("takes the backups that are due with the CAs of the cluster, and prunes old ones", async () => {
  await world.addCluster();
  await world.addPlane();
  await world.ready(1);
  await addBackup("b1", { schedule: "*/10 * * * *", keep: 2 });
  await world.until(async () => (await backedUp()) === "False NoBackupYet: The first backup is not due yet");
  const folder = join(dir, NAMESPACE, "c1_kubeadm");
  for (const taken of [1, 2, 3, 4]) {
    const before = (await backup()).status?.lastName;
    await world.plane.settle(TEN_MINUTES_MS - (world.plane.clock.now() % TEN_MINUTES_MS) + 1_000);
    await written(async () => {
      const { status } = await backup();
      const kept = await readdir(folder).catch(() => []);
      return status?.lastName !== before && status?.count === Math.min(taken, 2) && kept.length === status.count;
    });
  }
  const { status } = await backup();
  expect(await backedUp()).toBe("True BackedUp: ");
  expect(status?.backups?.map(({ name }) => name)).toHaveLength(2);
  expect(await readdir(folder)).toEqual(status?.backups?.map(({ name }) => name));
  const description = JSON.parse(await readFile(join(folder, status?.lastName ?? "", "control-plane.json"), "utf8"));
  expect(description).toMatchObject({ clusterName: "c1", version: "v1.36.2", endpoint: { host: "10.0.0.9" } });
  expect(description.authorities.etcd.certPem).toContain("BEGIN CERTIFICATE");
});

test("takes a requested backup at once, without a schedule", async () => {
  await world.addCluster();
  await world.addPlane();
  await world.ready(1);
  await addBackup("b1", {});
  await world.user.patch(await backup(), { metadata: { annotations: { [BACKUP_ANNOTATION]: "now" } } });
  await written(async () => (await backup()).status?.count === 1);
  expect((await backup()).metadata.annotations?.[BACKUP_ANNOTATION]).toBeUndefined();
});

test("lists backups of an earlier cluster of the same name as such, and neither counts nor prunes them", async () => {
  const old = ["20251230T000000Z", "20251231T000000Z"];
  for (const name of old)
    await new DirectoryStore(dir).save(`${NAMESPACE}/c1_kubeadm`, name, import.meta.filename, '{"caFingerprint":"x"}');
  await world.addCluster();
  await world.addPlane();
  await world.ready(1);
  await addBackup("b1", { keep: 1 });
  await written(async () => (await backedUp()).startsWith("False NoBackup:"));
  expect(await backedUp()).toContain("2 backups of another cluster of this name");
  await world.user.patch(await backup(), { metadata: { annotations: { [BACKUP_ANNOTATION]: "now" } } });
  await written(async () => (await backup()).status?.count === 1);
  const { backups, lastName } = (await backup()).status ?? {};
  expect(backups?.map(({ name, otherCluster }) => [name, otherCluster])).toEqual([
    ...old.map((name) => [name, true]),
    [lastName, undefined],
  ]);
  const description = await new DirectoryStore(dir).description(`${NAMESPACE}/c1_kubeadm`, lastName ?? "");
  expect(JSON.parse(description)).toMatchObject({
    clusterUid: (await world.cluster()).metadata.uid,
    caFingerprint: expect.stringMatching(/^sha256:/),
  });
});

test("uses another member when one does not answer, and reports what each answered when none does", async () => {
  await world.addCluster();
  await world.addPlane({ replicas: 3 });
  await world.ready(3);
  const nodes = (await world.machines()).map(({ status }) => status?.nodeRef?.name ?? "");
  ways.members.push(...nodes);
  ways.dead.add(nodes[0] ?? "");
  await addBackup("b1", {});
  const request = async () =>
    await world.user.patch(await backup(), { metadata: { annotations: { [BACKUP_ANNOTATION]: "now" } } });
  await request();
  await written(async () => (await backup()).status?.count === 1);
  expect(ways.snapshots).toEqual([nodes[1]]);
  ways.dead.add(nodes[1] ?? "");
  await request();
  await written(async () => (await backedUp()).startsWith("False BackupFailed"));
  expect(await backedUp()).toContain("etcd has no leader");
  expect((await backup()).status?.count).toBe(1);
});

test("says what it waits for, and who keeps the backups instead", async () => {
  await addBackup("b1", {});
  await world.plane.settle(1_000);
  expect(await backedUp()).toContain("ClusterDoesNotExist");
  await world.addCluster();
  await world.plane.settle(1_000);
  expect(await backedUp()).toContain("WaitingForControlPlane");
  await world.plane.settle(2_000);
  await addBackup("b2", {});
  await world.plane.settle(1_000);
  expect(await backedUp("b2")).toContain("False AnotherBackup: ControlPlaneBackup b1");
});
