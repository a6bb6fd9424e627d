import { DirectoryStore } from "@capstan/backup";
import { KubeadmConfig, Machine, RECOVERY_ANNOTATION, RESTORE_ANNOTATION, Secret, secretText } from "@capstan/capi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RecoveryWorld } from "../testing/recovery-world.ts";
import { conditionText, NAMESPACE } from "../testing/world.ts";

let at: RecoveryWorld;

beforeEach(async () => {
  at = await RecoveryWorld.start();
}, 60_000);
afterEach(() => at.close());

const isRestoring = ({ metadata }: KubeadmConfig): boolean => metadata.annotations?.[RESTORE_ANNOTATION] !== undefined;
const nameOf = ({ metadata }: Machine): string => metadata.name ?? "";
test("recovers from the survivor after a person approved the plan, and scales back to three", async () => {
  const before = await at.powerOff(1);
  await at.create();
  await at.inPhase("WaitingForApproval");
  await at.world.plane.settle(120_000);
  const [survivor, ...others] = before.map(nameOf);
  expect((await at.recovery()).status?.plan).toMatchObject({
    source: "Member",
    member: survivor,
    revision: "100",
    lost: others,
  });
  expect(conditionText(await at.recovery(), "Recovered")).toContain(
    `Restores etcd from the member on Machine ${survivor} with everything up to revision 100`,
  );
  // Nothing happens before the approval.
  expect((await at.world.machines()).map(nameOf)).toEqual(before.map(nameOf));
  expect(at.ways.snapshots).toEqual([]);

  await at.approve();
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined);
  const { savedBackup = "", machine = "" } = (await at.recovery()).status ?? {};
  expect(savedBackup).toMatch(/-recovery-r1-[0-9a-f]{8}$/);
  expect((await new DirectoryStore(at.dir).list(`${NAMESPACE}/c1_kubeadm`)).map(({ name }) => name)).toEqual([
    savedBackup,
  ]);
  expect((await at.world.get()).metadata.annotations?.[RECOVERY_ANNOTATION]).toBe("r1");
  await at.world.until(async () => (await at.world.list(KubeadmConfig)).some(isRestoring));
  const [config] = (await at.world.list(KubeadmConfig)).filter(isRestoring);
  expect(config?.metadata.name).toBe(machine);
  expect(config?.spec?.joinConfiguration).toBeUndefined();
  const key = { namespace: NAMESPACE, name: config?.metadata.annotations?.[RESTORE_ANNOTATION] ?? "" };
  expect(secretText(await at.world.user.get(Secret, key), "script")).toContain("https://10.0.0.1:1234/token");
  expect(secretText(await at.world.user.get(Secret, key), "after")).toContain("ask DELETE");

  at.restored();
  await at.inPhase("Done");
  expect(await at.world.machines()).toHaveLength(3);
  await at.world.ready(3);
  await at.world.plane.settle(60_000);
  const after = (await at.world.machines()).map(nameOf);
  // The first Machine stays: nothing is replaced needlessly.
  expect(after).toContain(machine);
  expect(after.filter((name) => before.map(nameOf).includes(name))).toEqual([]);
  expect((await at.world.get()).metadata.annotations?.[RECOVERY_ANNOTATION]).toBeUndefined();
  expect(await at.world.user.get(Secret, key)).toBeUndefined();
  expect(at.served.size).toBe(0);
});

test("an approval of another plan starts nothing until the plan of the moment is approved", async () => {
  const before = await at.powerOff(1);
  await at.create();
  await at.inPhase("WaitingForApproval");
  const approve = async (approvedPlan: string): Promise<void> => {
    await at.world.user.patch(await at.recovery(), { spec: { approved: true, approvedPlan } });
    await at.world.plane.settle(60_000);
  };
  await approve("000000000000");
  expect((await at.recovery()).status?.phase).toBe("WaitingForApproval");
  const said = async (): Promise<string> => conditionText(await at.recovery(), "Recovered");
  // The survey reads files, which takes real time.
  await at.eventually(async () => (await said()).includes("The plan has changed since it was approved"), said);
  const text = await said();
  expect(text).toContain("The plan has changed since it was approved.");
  const { digest = "" } = (await at.recovery()).status?.plan ?? {};
  expect(text).toContain(`spec.approvedPlan to ${digest}`);
  expect((await at.world.machines()).map(nameOf)).toEqual(before.map(nameOf));
  await at.world.user.patch(await at.recovery(), { spec: { approved: true, approvedPlan: digest } });
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined);
});

test("creates the first Machine again that a person deletes before it runs", async () => {
  await at.powerOff(1);
  await at.create({ approved: true });
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined);
  const name = (await at.recovery()).status?.machine ?? "";
  const first = async () => (await at.world.machines()).find((machine) => nameOf(machine) === name);
  await at.eventually(async () => (await first()) !== undefined, first);
  const before = await first();
  await at.world.user.delete({ kind: Machine, namespace: NAMESPACE, name });
  await at.eventually(async () => {
    const now = await first();
    return now !== undefined && now.metadata.uid !== before?.metadata.uid;
  }, first);
  at.restored();
  await at.inPhase("Done");
  await at.world.ready(3);
  expect((await at.world.machines()).map(nameOf)).toContain(name);
  expect(at.world.side.calls).toContain("remove stray Nodes");
});

test("restores a backup when no member answers, and says how much is lost", async () => {
  await at.powerOff(0);
  await at.create();
  await at.inPhase("Refused");
  expect(conditionText(await at.recovery(), "Recovered")).toContain("and there is no backup");
  await at.addBackup("20251231T230000Z");
  await at.inPhase("WaitingForApproval");
  expect(conditionText(await at.recovery(), "Recovered")).toContain("since then is lost");
  await at.approve();
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined);
  expect((await at.recovery()).status?.savedBackup).toBe("20251231T230000Z");
  at.restored();
  await at.inPhase("Done");
  await at.world.ready(3);
  expect(at.ways.snapshots).toEqual([]);
});

test("refuses while etcd has its quorum, and changes nothing", async () => {
  const before = await at.powerOff(2);
  await at.create({ approved: true });
  await at.inPhase("Refused");
  await at.world.plane.settle(120_000);
  expect(conditionText(await at.recovery(), "Recovered")).toContain("has not lost its quorum");
  expect((await at.world.get()).metadata.annotations?.[RECOVERY_ANNOTATION]).toBeUndefined();
  expect((await at.world.machines()).length).toBeGreaterThanOrEqual(before.length);
});

test("ends the same when the manager is killed after any write", async () => {
  await at.powerOff(1);
  await at.create({ approved: true });
  for (let write = 1; write <= 40; write++) {
    await at.world.plane.stopControllers();
    at.served.clear();
    await at.world.plane.startControllers(1 + (write % 4));
    await at.world.plane.settle(2_000);
    const { status } = await at.recovery();
    if (status?.phase === "Starting" && status.machine !== undefined) at.restored();
    if (status?.phase === "Done") break;
  }
  await at.world.plane.stopControllers();
  await at.world.plane.startControllers();
  await at.reached(({ status }) => {
    if (status?.phase === "Starting" && at.ways.members.length > 1) at.restored();
    return status?.phase === "Done";
  });
  await at.world.ready(3);
  expect(at.ways.snapshots).toHaveLength(1);
  expect((await at.world.machines()).map(nameOf)).toContain((await at.recovery()).status?.machine);
});
