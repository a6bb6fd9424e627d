import { formatTime, type Unstructured } from "@capstan/apimachinery";
import { DROP_REMOVED_FLAGS_ANNOTATION, KubeadmConfig, type Machine } from "@capstan/capi";
import type { Client } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { World } from "../testing/world.ts";

let world: World;
let workload: Client;

beforeEach(async () => {
  world = await World.start();
  workload = await world.addCluster();
});
afterEach(() => world.close());

const nameOf = ({ metadata }: Machine): string => metadata.name ?? "";
const names = async (): Promise<string[]> => (await world.machines()).map(nameOf);

/** A worker whose kubelet is older than v1.36 and v1.37 support. */
async function addOldKubelet(): Promise<void> {
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "old" } } as Unstructured;
  await workload.create(node);
  await workload.patchStatus(node, { status: { nodeInfo: { kubeletVersion: "v1.32.0" } } });
}

test("the version skew does not block a rollout that keeps the version", async () => {
  await world.addPlane({ replicas: 1 });
  await world.ready(1);
  await addOldKubelet();
  const before = await names();
  await world.turn(60_000);
  await world.patch({ rollout: { after: formatTime(world.plane.clock.now() - 5_000) } });
  await world.until(async () => {
    const now = await names();
    return now.length === 1 && now[0] !== before[0];
  }, "the replacement");
});

test("a remediated Machine is replaced while the version skew blocks an upgrade", async () => {
  await world.addPlane({ replicas: 3 });
  await world.ready(3);
  await addOldKubelet();
  await world.patch({ version: "v1.37.0" });
  await world.until(async () => (await world.condition("ChangesPossible")).includes("KubeletTooOld"));
  const [failed, ...others] = await world.machines();
  if (failed === undefined) throw new Error("no machine");
  await world.failHealthCheck(failed);
  await world.until(async () => {
    const now = await names();
    return now.length === 3 && !now.includes(nameOf(failed));
  }, "the replacement");
  await world.turn(120_000);
  expect(await names()).toEqual(expect.arrayContaining(others.map(nameOf)));
  expect(await names()).toHaveLength(3);
});

test("a flag that is known to be removed only since a later release of Capstan replaces no Machine", async () => {
  const kubeletExtraArgs = [{ name: "container-runtime", value: "remote" }];
  await world.addPlane(
    {
      kubeadmConfigSpec: {
        clusterConfiguration: { encryptionAlgorithm: "ECDSA-P256" },
        initConfiguration: { nodeRegistration: { kubeletExtraArgs } },
        joinConfiguration: { nodeRegistration: { kubeletExtraArgs } },
      },
    },
    { annotations: { [DROP_REMOVED_FLAGS_ANNOTATION]: "true" } },
  );
  await world.ready(1);
  const before = await names();
  // As the release that did not know it has created it.
  const [config] = await world.list(KubeadmConfig);
  if (config === undefined) throw new Error("no config");
  await world.user.patch(config, { spec: { initConfiguration: { nodeRegistration: { kubeletExtraArgs } } } });
  await world.turn(120_000);
  expect(await names()).toEqual(before);
  expect(await world.condition("RollingOut")).toMatch(/^False/);
});
