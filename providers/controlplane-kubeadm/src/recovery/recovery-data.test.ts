import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "@capstan/apimachinery";
import { Machine, RECOVERY_ANNOTATION, Secret, secretText } from "@capstan/capi";
import { createCertificateAuthority } from "@capstan/pki";
import { afterEach, beforeEach, expect, test } from "vitest";
import { wholeSnapshot } from "../testing/fake-ways.ts";
import { RecoveryWorld } from "../testing/recovery-world.ts";
import { conditionText, NAMESPACE } from "../testing/world.ts";

const BACKUP = "20251231T230000Z";

let at: RecoveryWorld;

beforeEach(async () => {
  at = await RecoveryWorld.start();
}, 60_000);
afterEach(() => at.close());

const names = async (): Promise<string[]> => (await at.world.machines()).map(({ metadata }) => metadata.name ?? "");
const nameOf = ({ metadata }: Machine): string => metadata.name ?? "";
const text = async (name = "r1"): Promise<string> => conditionText(await at.recovery(name), "Recovered");
const snapshotFile = (): string => join(at.dir, NAMESPACE, "c1_kubeadm", BACKUP, "snapshot.db");
const keptFiles = (): string[] => {
  const folder = join(at.dir, ".recoveries");
  return existsSync(folder) ? readdirSync(folder) : [];
};
const held = async (): Promise<string | undefined> =>
  (await at.world.get()).metadata.annotations?.[RECOVERY_ANNOTATION];
const started = async (name = "r1"): Promise<void> =>
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined, name);

test.each([
  ["has another content than etcd wrote", () => writeFileSync(snapshotFile(), "not what etcd has written, by far")],
  ["is cut off", () => writeFileSync(snapshotFile(), wholeSnapshot("x".repeat(100)).subarray(0, 90))],
])("keeps all Machines when the backup %s, and another backup recovers", async (_, damage) => {
  const before = await at.powerOff(0);
  await at.addBackup(BACKUP);
  await at.addBackup("20251231T220000Z");
  damage();
  await at.create({ approved: true, backup: BACKUP });
  await at.inPhase("Refused");
  await at.world.plane.settle(120_000);
  expect(await text()).toMatch(/backup 20251231T230000Z in .* is damaged: .*name another backup\. No Machine/);
  expect(await names()).toEqual(before.map(nameOf));
  expect(await held()).toBeUndefined();
  expect(keptFiles()).toEqual([]);
  await at.create({ approved: true, backup: "20251231T220000Z" }, "r2");
  await started("r2");
});

test("keeps all Machines when the backup is deleted after the approval", async () => {
  const before = await at.powerOff(0);
  await at.addBackup(BACKUP);
  // It is listed before the plan is carried out, and fetched after that.
  at.faults.beforeFetch = () => rmSync(snapshotFile());
  await at.create({ approved: true, backup: BACKUP });
  await at.inPhase("Refused");
  expect(await text()).toContain("does not exist any more");
  expect(await names()).toEqual(before.map(nameOf));
});

test("keeps all Machines when the data directory cannot be part of the script", async () => {
  const before = await at.powerOff(0);
  await at.addBackup(BACKUP);
  const { kubeadmConfigSpec } = (await at.world.get()).spec;
  const clusterConfiguration = { ...kubeadmConfigSpec?.clusterConfiguration, etcd: { local: { dataDir: "/a b" } } };
  await at.world.patch({ kubeadmConfigSpec: { ...kubeadmConfigSpec, clusterConfiguration } });
  await at.create({ approved: true, backup: BACKUP });
  await at.inPhase("Refused");
  expect(await text()).toContain("etcd.local.dataDir");
  expect(await names()).toEqual(before.map(nameOf));
  expect(at.served.size).toBe(0);
});

test("waits with all Machines while the snapshot cannot be served, and fetches it once", async () => {
  const before = await at.powerOff(0);
  await at.addBackup(BACKUP);
  let fetched = 0;
  at.faults.beforeFetch = () => void fetched++;
  at.faults.serverProblem = "EADDRNOTAVAIL";
  await at.create({ approved: true, backup: BACKUP });
  await at.eventually(async () => (await text()).includes("EADDRNOTAVAIL"), text);
  const tries = at.faults.publishes;
  await at.world.plane.settle(600_000);
  // Doubled each time, up to five minutes.
  expect(at.faults.publishes - tries).toBeLessThan(12);
  expect(await names()).toEqual(before.map(nameOf));
  expect(fetched).toBe(1);
  at.faults.serverProblem = undefined;
  await at.world.plane.settle(300_000);
  await started();
  expect(fetched).toBe(1);
});

test("restores what was verified, although the store loses it and the manager restarts", async () => {
  await at.powerOff(0);
  await at.addBackup(BACKUP);
  at.ways.startsMembers = false;
  await at.create({ approved: true, backup: BACKUP });
  await started();
  const { snapshotDigest } = (await at.recovery()).status ?? {};
  expect(snapshotDigest).toMatch(/^[0-9a-f]{64}$/);
  rmSync(join(at.dir, NAMESPACE), { recursive: true });
  await at.world.plane.stopControllers();
  at.served.clear();
  await at.world.plane.startControllers();
  // The Machine that is created again needs the data once more.
  const [name = ""] = await names();
  await at.world.user.delete({ kind: Machine, namespace: NAMESPACE, name });
  await at.eventually(async () => at.served.size === 1, text);
  expect([...at.served.values()].map((file) => existsSync(file))).toEqual([true]);
  const secret = await at.world.user.get(Secret, { namespace: NAMESPACE, name: "r1-restore-etcd" });
  expect(secretText(secret, "script")).toContain(snapshotDigest);
  at.restored();
  at.ways.startsMembers = true;
  await at.inPhase("Done");
  expect(keptFiles()).toEqual([]);
});

test("an approval does not count once another recovery has replaced the Machines", async () => {
  await at.powerOff(0);
  await at.addBackup(BACKUP);
  await at.addBackup("20251231T220000Z");
  await at.create({ approved: true, backup: BACKUP });
  await started();
  await at.create({ approved: true, backup: "20251231T220000Z" }, "r2");
  await at.eventually(
    async () => (await text("r2")).includes("ControlPlaneRecovery r1 replaces"),
    () => text("r2"),
  );
  await at.world.plane.settle(5_000);
  at.restored();
  await at.inPhase("Done");
  await at.world.ready(3);
  const machines = await names();
  await at.world.plane.settle(300_000);
  await at.inPhase("Refused", "r2");
  expect(await text("r2")).toContain("ControlPlaneRecovery r1 has recovered the control plane since");
  await at.world.plane.settle(120_000);
  expect(await names()).toEqual(machines);
}, 60_000);

test("restores no backup of an earlier cluster of the same name, and says how to do it nevertheless", async () => {
  const before = await at.powerOff(0);
  const { certPem } = await createCertificateAuthority({
    algorithm: "ECDSA-P256",
    commonName: "kubernetes",
    notBeforeMs: Date.UTC(2025, 0, 1),
    validMs: 100 * 24 * 3_600_000,
    random: seededRandom(1),
  });
  await at.addBackup(BACKUP, certPem);
  await at.create({}, "r1");
  await at.inPhase("Refused");
  expect(await text()).toContain(`there is no backup of this cluster (${BACKUP} belong to another one)`);
  await at.create({ backup: BACKUP, approved: true }, "r2");
  await at.inPhase("Refused", "r2");
  expect(await text("r2")).toMatch(
    /belongs to another cluster: its CA is sha256:.*write the authorities of its control-plane\.json into the Secrets/,
  );
  expect(await names()).toEqual(before.map(nameOf));
  // An older one of this cluster is chosen instead.
  await at.addBackup("20251231T220000Z");
  await at.create({}, "r3");
  await at.inPhase("WaitingForApproval", "r3");
  expect((await at.recovery("r3")).status?.plan?.backup).toBe("20251231T220000Z");
});
