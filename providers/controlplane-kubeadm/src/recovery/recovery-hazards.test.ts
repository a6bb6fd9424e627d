import { controllerOf, type Unstructured } from "@capstan/apimachinery";
import {
  Cluster,
  KubeadmConfig,
  KubeadmControlPlane,
  type Machine,
  RECOVERY_ANNOTATION,
  Secret,
  secretText,
} from "@capstan/capi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ControlPlaneRecovery } from "../kinds/control-plane-recovery.ts";
import { RecoveryWorld } from "../testing/recovery-world.ts";
import { conditionText, NAMESPACE } from "../testing/world.ts";

let at: RecoveryWorld;

beforeEach(async () => {
  at = await RecoveryWorld.start();
}, 60_000);
afterEach(() => at.close());

const PLANE = { kind: KubeadmControlPlane, namespace: NAMESPACE, name: "c1" };
const nameOf = ({ metadata }: Machine): string => metadata.name ?? "";
const names = async (): Promise<string[]> => (await at.world.machines()).map(nameOf);
const text = async (name = "r1"): Promise<string> => conditionText(await at.recovery(name), "Recovered");
const holder = async (): Promise<string | undefined> =>
  (await at.world.get()).metadata.annotations?.[RECOVERY_ANNOTATION];

/** A recovery whose first Machine has yet to start. */
async function starting(): Promise<string> {
  await at.powerOff(1);
  at.ways.startsMembers = false;
  await at.create({ approved: true });
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined);
  await at.eventually(async () => (await names()).length === 1, names);
  return (await at.recovery()).status?.machine ?? "";
}

/** The first Machine has restored the data, and members start. */
function started(): void {
  at.restored();
  at.ways.startsMembers = true;
}

test("an approval that was refused does not become one of a quorum that is lost some day", async () => {
  const before = await at.powerOff(3);
  await at.create({ approved: true });
  await at.inPhase("Refused");
  expect(await text()).toContain("create another ControlPlaneRecovery");
  for (const machine of before.slice(1)) at.ways.dead.add(machine.status?.nodeRef?.name ?? "");
  await at.world.plane.settle(600_000);
  expect((await at.recovery()).status?.phase).toBe("Refused");
  expect(await names()).toEqual(before.map(nameOf));
});

test("an approval does not count once etcd has its quorum again", async () => {
  const before = await at.powerOff(1);
  await at.create();
  await at.inPhase("WaitingForApproval");
  at.ways.dead.clear();
  await at.approve();
  await at.inPhase("Refused");
  await at.world.plane.settle(120_000);
  expect(await text()).toContain("create another ControlPlaneRecovery");
  expect(await names()).toEqual(expect.arrayContaining(before.map(nameOf)));
});

test("nothing is recovered during an election", async () => {
  const before = await at.powerOff(2);
  at.ways.electing = true;
  await at.create({ approved: true });
  await at.inPhase("Refused");
  await at.world.plane.settle(120_000);
  expect(await text()).toContain("2 of 3 members of etcd answer");
  expect(await names()).toEqual(expect.arrayContaining(before.map(nameOf)));
});

test("an approval does not count once another member has newer data", async () => {
  const before = await at.powerOff(1);
  at.ways.behind.set(before[0]?.status?.nodeRef?.name ?? "", 90);
  await at.create();
  await at.inPhase("WaitingForApproval");
  expect((await at.recovery()).status?.plan?.member).toBe(before[0]?.metadata.name);
  at.ways.dead.delete(before[1]?.status?.nodeRef?.name ?? "");
  at.ways.dead.add(before[0]?.status?.nodeRef?.name ?? "");
  await at.approve();
  await at.inPhase("Refused");
  expect(await text()).toContain(`the data would come from the member on Machine ${before[1]?.metadata.name} now`);
});

test("a second recovery waits for the first, and neither ends the other", async () => {
  const first = await starting();
  await at.addBackup("20251231T230000Z");
  await at.create({ approved: true, backup: "20251231T230000Z" }, "r2");
  await at.reached(({ status }) => JSON.stringify(status).includes("ControlPlaneRecovery r1 replaces"), "r2");
  await at.world.plane.settle(60_000);
  expect(await names()).toEqual([first]);
  expect(await holder()).toBe("r1");
});

test("a recovery that ended long ago does not release the control plane from another one", async () => {
  await starting();
  started();
  await at.inPhase("Done");
  await at.world.ready(3);
  await at.powerOff(1);
  at.ways.startsMembers = false;
  await at.create({ approved: true }, "r2");
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined, "r2");
  // Every object is reconciled when a manager starts.
  await at.world.plane.stopControllers();
  await at.world.plane.startControllers();
  await at.eventually(async () => (await names()).length > 0, names);
  expect(await holder()).toBe("r2");
  expect(await names()).toEqual([(await at.recovery("r2")).status?.machine]);
});

test("a recovery of the same name saves the data again", async () => {
  await at.addBackup("20251231T230000Z-recovery-r1");
  await starting();
  expect(at.ways.snapshots).toHaveLength(1);
  expect((await at.recovery()).status?.savedBackup).not.toBe("20251231T230000Z-recovery-r1");
});

test("a long name makes no backup that the status cannot name", async () => {
  await at.powerOff(1);
  const name = "a".repeat(200);
  await at.create({ approved: true }, name);
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined, name);
});

test("a recovery that is deleted leaves the control plane held, says how to go on, and another one completes it", async () => {
  const first = await starting();
  await at.world.user.delete({ kind: ControlPlaneRecovery, namespace: NAMESPACE, name: "r1" });
  await at.world.plane.settle(60_000);
  expect(await at.world.condition("Available")).toContain("capstan recover c1");
  expect(await names()).toEqual([first]);
  expect(at.served.size).toBe(0);
  await at.create({ approved: true }, "r2");
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined, "r2");
  started();
  await at.inPhase("Done", "r2");
  await at.world.ready(3);
  expect(await names()).not.toContain(first);
  expect(await holder()).toBeUndefined();
});

/** A recovery whose first Machine has its Node, and whose etcd has yet to start. */
async function joined(): Promise<string> {
  const first = await starting();
  await at.eventually(async () => (await at.world.machines())[0]?.status?.nodeRef !== undefined, names);
  return first;
}

const deleteRecovery = () => at.world.user.delete({ kind: ControlPlaneRecovery, namespace: NAMESPACE, name: "r1" });

/** A recovery that is deleted before it sees that etcd on its first Machine has a leader. */
async function abandoned(): Promise<string> {
  const first = await joined();
  await deleteRecovery();
  await at.world.plane.settle(60_000);
  expect(await holder()).toBe("r1");
  return first;
}

async function continued(first: string): Promise<void> {
  await at.eventually(async () => (await holder()) === undefined, holder);
  await at.world.ready(3);
  expect(await names()).toContain(first);
  expect(at.world.side.calls).toContain("remove stray Nodes");
  expect(await at.world.condition("Available")).toBe("True Available: ");
}

test("a recovery that is deleted after etcd has a leader is over: the control plane continues with its first Machine", async () => {
  const first = await abandoned();
  started();
  await continued(first);
  expect(at.world.plane.events.map(({ reason }) => reason)).toContain("RecoveryOver");
});

test("continues although the manager is killed after any write, and the recovery is deleted while none runs", async () => {
  const first = await joined();
  await at.world.plane.stopControllers();
  await deleteRecovery();
  started();
  for (let write = 1; write <= 12; write++) {
    await at.world.plane.startControllers(1 + (write % 3));
    await at.world.plane.settle(35_000);
    await at.world.plane.stopControllers();
  }
  await at.world.plane.startControllers();
  await continued(first);
});

test("a leader on a Machine that is being deleted does not release the control plane", async () => {
  await abandoned();
  const [machine] = await at.world.machines();
  if (machine === undefined) throw new Error("no machine");
  await at.world.user.patch(machine, {
    metadata: { finalizers: ["test/keep", ...(machine.metadata.finalizers ?? [])] },
  });
  await at.world.user.delete(machine);
  started();
  await at.world.plane.settle(120_000);
  expect(await holder()).toBe("r1");
  await at.create({}, "r1");
  await at.inPhase("Refused");
  expect(await holder()).toBe("r1");
});

test("a new recovery of the same name that is refused does not keep the control plane held", async () => {
  const first = await abandoned();
  await at.create({ approved: true, backup: "20200101T000000Z" });
  await at.inPhase("Refused");
  expect(await holder()).toBe("r1");
  started();
  await continued(first);
});

test("nothing is created for a Cluster that is being deleted", async () => {
  await starting();
  await at.world.user.delete({ kind: Cluster, namespace: NAMESPACE, name: "c1" });
  await at.world
    .until(async () => (await at.world.user.get(KubeadmControlPlane, PLANE)) === undefined, "the deletion")
    .catch(() => undefined);
  await at.world.plane.settle(120_000);
  expect(await names()).toEqual([]);
  expect(await at.world.list(KubeadmConfig)).toEqual([]);
  expect(await at.world.user.get(Cluster, { namespace: NAMESPACE, name: "c1" })).toBeUndefined();
});

test("a paused Cluster is not recovered before it is resumed", async () => {
  const before = await at.powerOff(1);
  await at.create();
  await at.inPhase("WaitingForApproval");
  const key = { kind: Cluster, namespace: NAMESPACE, name: "c1" };
  await at.world.user.patch(key, { spec: { paused: true } });
  await at.approve();
  await at.eventually(async () => (await text()).includes("Paused"), text);
  await at.world.plane.settle(120_000);
  expect(await names()).toEqual(before.map(nameOf));
  expect(await text()).toContain("Paused");
  await at.world.user.patch(key, { spec: { paused: null } });
  await at.reached(({ status }) => status?.phase === "Starting" && status.machine !== undefined);
});

test("a Secret that a tenant made under the name of the scripts is neither trusted nor overwritten", async () => {
  const metadata = { namespace: NAMESPACE, name: "r1-restore-etcd" };
  const base64 = (value: string): string => Buffer.from(value).toString("base64");
  const address = { url: `https://10.0.0.1:2222/${"a".repeat(64)}`, caPem: "X", certPem: "X", keyPem: "X" };
  const data = { address: base64(JSON.stringify(address)), script: base64("tenant"), after: base64("tenant") };
  await at.world.user.create({ apiVersion: "v1", kind: "Secret", metadata, data } as Unstructured);
  const before = await at.powerOff(1);
  await at.create({ approved: true });
  await at.eventually(async () => (await text()).includes("Secret r1-restore-etcd has the name of the scripts"), text);
  expect(await names()).toEqual(before.map(nameOf));
  await at.world.user.delete({ kind: Secret, ...metadata });
  await at.eventually(async () => (await at.world.user.get(Secret, metadata)) !== undefined, text);
  const secret = await at.world.user.get(Secret, metadata);
  expect(secretText(secret, "script")).toContain("https://10.0.0.1:1234/token");
  expect(controllerOf(secret as Secret)?.kind).toBe("ControlPlaneRecovery");
});
