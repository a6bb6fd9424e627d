import { Machine } from "@capstan/capi";
import { afterEach, beforeEach, expect, test } from "vitest";
import { REMEDIATION_FOR } from "./annotations.ts";
import { causesOf } from "./testing/why.ts";
import { NAMESPACE, World } from "./testing/world.ts";

let world: World;

beforeEach(async () => {
  world = await World.start();
});

afterEach(async () => {
  await world.close();
});

/** What `why` says about the conditions that the controller has set, some time later. */
async function why(about: RegExp): Promise<{ cause: string; steps: readonly string[] }> {
  const causes = await causesOf(world);
  const found = causes.find(({ cause }) => about.test(cause));
  if (found === undefined) throw new Error(`no cause is about it: ${causes.map(({ cause }) => cause).join("; ")}`);
  return found;
}

test("names the command that sets a missing endpoint", async () => {
  await world.addCluster({ controlPlaneEndpoint: undefined });
  await world.addPlane();
  await world.until(async () => (await world.condition("Available")).startsWith("False WaitingForEndpoint"));
  const { cause, steps } = await why(/no address/);
  expect(cause).toBe("Cluster c1 has no address for its API, which every Machine of the control plane needs first.");
  expect(steps[0]).toContain("kubectl patch cluster c1");
});

test("says that the endpoint does not lead to the first Machine", async () => {
  await world.addCluster();
  world.side.mute = true;
  await world.addPlane();
  await world.until(async () => (await world.condition("Available")).includes("does not answer"));
  const { cause, steps } = await why(/kubeadm init/);
  expect(cause).toMatch(
    /^kubeadm init has not finished on .*does not answer at 10\.0\.0\.9:6443 \(connection refused\)/,
  );
  expect(steps[0]).toContain("check that 10.0.0.9:6443 leads to the Machine");
});

test("says that the endpoint is down although the Machines serve", async () => {
  await world.addCluster();
  await world.addPlane();
  await world.ready(1);
  world.side.endpointDown = "no route to host";
  await world.until(async () => (await world.condition("Available")).startsWith("False EndpointDown"));
  const { cause, steps } = await why(/is down/);
  expect(cause).toMatch(
    /^The endpoint of Cluster c1 is down: .* not at the endpoint 10\.0\.0\.9:6443: no route to host\. Repair the load balancer/,
  );
  expect(steps[0]).toMatch(/^repair the load balancer/);
});

test("says why a deletion is held", async () => {
  await world.addCluster();
  await world.addPlane({ replicas: 3 });
  await world.ready(3);
  const [a, b] = await world.machines();
  world.side.broken.add(a?.status?.nodeRef?.name ?? "");
  await world.plane.settle(70_000);
  await world.user.delete({ kind: Machine, namespace: NAMESPACE, name: b?.metadata.name ?? "" });
  await world.until(async () => (await world.condition("ChangesPossible")).startsWith("False QuorumWouldBeLost"));
  const { cause, steps } = await why(/held back/);
  expect(cause).toMatch(/held back: Machine c1-\w+ is kept: etcd could lose its quorum/);
  expect(steps.at(-1)).toBe("power on or repair one of them; the change continues by itself");
});

test("names the commands that continue after the last permitted remediation", async () => {
  await world.addCluster();
  await world.addPlane({ replicas: 3, remediation: { maxRetry: 0 } });
  await world.ready(3);
  for (let turn = 0; turn < 2; turn++) {
    const machines = await world.machines();
    const machine = machines.find(({ metadata }) => metadata.annotations?.[REMEDIATION_FOR]) ?? machines[0];
    if (machine === undefined) throw new Error("no machine");
    world.side.broken.add(machine.status?.nodeRef?.name ?? "");
    await world.failHealthCheck(machine);
    const isGone = async () => !(await world.machines()).some(({ metadata }) => metadata.uid === machine.metadata.uid);
    if (turn > 0) break;
    await world.until(isGone);
    await world.ready(3);
  }
  await world.until(async () => (await world.condition("Remediating")).includes("MaxRetry"));
  const { cause, steps } = await why(/MaxRetry/);
  expect(cause).toMatch(
    /^Machine c1-\w+ has failed and is not remediated again: .*already failed 0 times \(MaxRetry\); it reports: it fails\.$/,
  );
  expect(steps).toEqual([
    expect.stringMatching(/^see why its replacements fail: capstan describe cluster c1/),
    expect.stringMatching(/^repair the cause, then delete the Machine, .*: kubectl delete machine c1-\w+$/),
    "or allow more retries: raise spec.remediation.maxRetry with kubectl edit kubeadmcontrolplane NAME",
  ]);
});

test("names the setting that keeps a rollout from starting", async () => {
  await world.addCluster();
  await world.addPlane();
  await world.ready(1);
  const registration = { nodeRegistration: { kubeletExtraArgs: [{ name: "container-runtime", value: "remote" }] } };
  await world.patch({
    kubeadmConfigSpec: {
      clusterConfiguration: { encryptionAlgorithm: "ECDSA-P256" },
      initConfiguration: registration,
      joinConfiguration: registration,
    },
  });
  await world.until(async () => (await world.condition("ChangesPossible")).startsWith("False SettingsNotSupported"));
  const { cause, steps } = await why(/does not change its Machines/);
  expect(cause).toMatch(/container-runtime/);
  expect(steps).toEqual([
    "correct or revert the change: kubectl edit kubeadmcontrolplane c1",
    "or drop what the version rejects: kubectl annotate kubeadmcontrolplane c1 capstan.dev/drop-removed-flags=true",
  ]);
});

test("names the members that are lost and alive, and the command that recovers", async () => {
  await world.addCluster();
  await world.addPlane({ replicas: 3 });
  await world.ready(3);
  for (const { status } of (await world.machines()).slice(1)) world.side.broken.add(status?.nodeRef?.name ?? "");
  world.side.etcdTrouble = {
    reason: "QuorumLost",
    message: "etcd has lost its quorum. Members lost: b, c; alive: a",
  };
  await world.plane.settle(70_000);
  await world.until(async () => (await world.condition("EtcdStable")).startsWith("False QuorumLost"));
  const { cause, steps } = await why(/Members lost/);
  expect(cause).toContain("Members lost: b, c; alive: a");
  expect(steps.at(-1)).toContain("capstan recover c1");
});
