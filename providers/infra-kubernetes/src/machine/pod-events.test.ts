import type { Unstructured } from "@capstan/apimachinery";
import { Pod, type PodStatus } from "@capstan/workloads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { World } from "../testing/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.start();
});
afterEach(() => world.close());

const creating: PodStatus = {
  phase: "Pending",
  conditions: [{ type: "PodScheduled", status: "True" }],
  containerStatuses: [{ name: "node", state: { waiting: { reason: "ContainerCreating" } } }],
};

/** A pod that has an outer node and does not start, and what that node says. */
async function startPod(): Promise<Pod> {
  world.outer.runner.fate = () => creating;
  await world.machine("m1");
  await world.client.createSubresource({ kind: Pod, namespace: "default", name: "m1" }, "binding", {
    apiVersion: "v1",
    kind: "Binding",
    metadata: { namespace: "default", name: "m1" },
    target: { kind: "Node", name: "outer-1" },
  });
  return (await world.pod()) as Pod;
}

let events = 0;
async function warn(pod: Pod, reason: string, message: string): Promise<void> {
  const { uid = "", name = "" } = pod.metadata;
  await world.client.create<Unstructured>({
    apiVersion: "v1",
    kind: "Event",
    metadata: { namespace: "default", name: `e${++events}` },
    involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "default", name, uid },
    type: "Warning",
    reason,
    message,
    lastTimestamp: new Date(world.clock.now()).toISOString(),
  });
}

test.each([
  [
    "a missing Secret",
    "FailedMount",
    'MountVolume.SetUp failed for volume "ca" : secret "ca" not found',
    "create that secret in namespace default",
  ],
  [
    "storage that does not attach",
    "FailedAttachVolume",
    "Multi-Attach error for volume",
    "repair the storage of the outer cluster",
  ],
  [
    "a runtime that the outer node does not have",
    "FailedCreatePodSandBox",
    'Failed to create pod sandbox: no runtime for "sysbox" is configured',
    "set another runtimeClassName",
  ],
  [
    "a pod network that fails",
    "FailedCreatePodSandBox",
    "Failed to create pod sandbox: plugin type=calico failed",
    "repair the container runtime or the pod network of outer node outer-1",
  ],
])(
  "a pod that does not start for %s is reported in the outer cluster's words, with a cure",
  async (_, reason, message, cure) => {
    const pod = await startPod();
    await warn(pod, "FailedScheduling", "0/1 nodes are available");
    await warn(pod, reason, message);
    await world.pass(40);
    expect(await world.condition(), "a usual start").toMatchObject({ reason: "Starting" });
    await world.pass(90);
    const condition = await world.condition();
    expect(condition).toMatchObject({ status: "False", reason: "ContainerCannotStart" });
    expect(condition?.message).toContain(`${reason}: ${message}`);
    expect(condition?.message).toContain(cure);
  },
);

test("IDs that change with each attempt do not change the condition", async () => {
  const pod = await startPod();
  const message = (id: string): string => `failed to setup network for sandbox "${id.repeat(64)}": no route`;
  await warn(pod, "FailedCreatePodSandBox", message("a"));
  await world.pass(130);
  const { resourceVersion } = (await world.get()).metadata;
  await warn(pod, "FailedCreatePodSandBox", message("b"));
  await world.pass(130);
  expect((await world.get()).metadata.resourceVersion).toBe(resourceVersion);
});

test("a pod that starts slowly and without warnings stays Starting", async () => {
  await startPod();
  await world.pass(600);
  expect(await world.condition()).toMatchObject({ reason: "Starting" });
});
