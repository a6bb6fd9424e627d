import { findCondition } from "@capstan/apimachinery";
import { conditionsOf, Machine, MachineDeployment, WorkerPool } from "@capstan/capi";
import { HostedControlPlane } from "@capstan/controlplane-hosted";
import { ByoHost } from "@capstan/host-agent";
import { ByoMachine, SIMULATED_KUBELET_ANNOTATION } from "@capstan/infra-byoh";
import { demoObjects } from "capstan";
import { afterEach, expect, test, vi } from "vitest";
import { Plane } from "./plane.ts";

vi.setConfig({ testTimeout: 240_000 });

let plane: Plane;
afterEach(() => plane.close());

/** What `capstan upgrade apply` writes: the control plane's version, then the pool's. */
async function upgrade(to: string): Promise<void> {
  await plane.client.patch({ kind: HostedControlPlane, namespace: "default", name: "demo" }, { spec: { version: to } });
  await plane.until("control plane", async () => (await plane.get(HostedControlPlane, "demo")).status?.version === to);
  await plane.client.patch(
    { kind: WorkerPool, namespace: "default", name: "general" },
    { spec: { template: { spec: { version: to } } } },
  );
}

const upToDate = (machine: Machine): boolean => findCondition(conditionsOf(machine), "UpToDate")?.status === "True";

/** Machines of a version that are up to date and available, by the provider of their host. */
async function running(version: string): Promise<string> {
  return (await plane.list(Machine))
    .filter(
      (machine) =>
        machine.status?.nodeInfo?.kubeletVersion === version &&
        findCondition(conditionsOf(machine), "Available")?.status === "True" &&
        upToDate(machine),
    )
    .map(({ spec }) => String(spec.providerID?.split("://")[0]))
    .sort()
    .join();
}

test("upgrading the demo brings every Machine, own hosts and bare metal, to the new version", async () => {
  plane = await Plane.start({ own: 0, metal: 0 });
  for (const object of demoObjects()) await plane.client.create(object);
  await plane.until("demo", async () => (await running("v1.36.3")) === "byoh,byoh,metal3,metal3");
  expect((await plane.get(WorkerPool, "general")).status?.upToDateReplicas).toBe(4);

  await upgrade("v1.37.1");
  let lowest = 4;
  await plane.until("upgrade", async () => {
    const pool = await plane.get(WorkerPool, "general");
    lowest = Math.min(lowest, pool.status?.upToDateReplicas ?? 0);
    return (await running("v1.37.1")) === "byoh,byoh,metal3,metal3" && (await plane.list(Machine)).length === 4;
  });
  // The pool counts what its Machines say: not all are up to date while they are replaced.
  expect(lowest).toBeLessThan(4);
  await plane.until("the pool's count", async () => {
    return (await plane.get(WorkerPool, "general")).status?.upToDateReplicas === 4;
  });
  const pool = await plane.get(WorkerPool, "general");
  expect(findCondition(conditionsOf(pool), "Progressing")).toMatchObject({ status: "True", reason: "Complete" });
});

/** Puts a kubelet on a host by hand. */
async function installKubelet(host: string, version: string): Promise<void> {
  await plane.client.patch(
    { kind: ByoHost, namespace: "default", name: host },
    { metadata: { annotations: { [SIMULATED_KUBELET_ANNOTATION]: version } } },
  );
}

test("hosts without an installer take a patch release as it is, and stop a minor upgrade with the reason", async () => {
  plane = await Plane.start({ own: 0, metal: 0 });
  const objects = demoObjects()
    .filter(({ kind }) => kind !== "K8sInstallerConfigTemplate")
    .map((object) => (object.kind === "ByoMachineTemplate" ? { ...object, spec: { template: { spec: {} } } } : object));
  for (const object of objects) await plane.client.create(object);
  for (const host of ["own-1", "own-2", "own-3"]) await installKubelet(host, "v1.36.3");
  await plane.until("demo", async () => (await running("v1.36.3")) === "byoh,byoh,metal3,metal3");

  await upgrade("v1.36.9");
  await plane.until("patch", async () => {
    const done = (await plane.list(Machine)).filter((each) => each.spec.version === "v1.36.9" && upToDate(each));
    return done.length === 4 && (await plane.list(Machine)).length === 4;
  });
  const own = (await plane.list(Machine)).find(({ spec }) => spec.infrastructureRef.kind === "ByoMachine");
  expect(findCondition(conditionsOf(own ?? {}), "UpToDate")?.message).toBe(
    "* Node runs v1.36.3, a different patch release of v1.36.9",
  );

  await upgrade("v1.37.1");
  const stuck = async (): Promise<string> =>
    findCondition(conditionsOf(await plane.get(WorkerPool, "general")), "Progressing")?.message ?? "";
  await plane.until("stuck", async () => (await stuck()).startsWith("no progress for 10m: member own: Machine "));
  expect(await stuck()).toContain("but v1.37 is needed; set installerRef in the ByoMachineTemplate");
  const waiting = (await plane.list(ByoMachine)).map((each) => findCondition(conditionsOf(each), "Ready"));
  expect(waiting.find((ready) => ready?.reason === "InsufficientCapacity")?.message).toMatch(
    /\(2 in use, 1 with another kubelet\): own-\d has kubelet v1\.36\.3, but v1\.37 is needed/,
  );
  const deployment = await plane.get(MachineDeployment, "general-own");
  expect(findCondition(conditionsOf(deployment), "Progressing")).toMatchObject({
    status: "False",
    reason: "ProgressDeadlineExceeded",
  });
  expect(findCondition(conditionsOf(deployment), "Available")?.status).toBe("True");

  for (const host of ["own-1", "own-2", "own-3"]) await installKubelet(host, "v1.37.0");
  await plane.until("upgrade", async () => {
    const done = (await plane.list(Machine)).filter((each) => each.spec.version === "v1.37.1" && upToDate(each));
    return done.length === 4 && (await plane.list(Machine)).length === 4;
  });
  await plane.until("complete", async () => (await stuck()) === "");
});
