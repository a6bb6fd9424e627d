import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { startWorkload, type TestWorkload } from "@capstan/workloads/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HostWorld } from "../../testing/host-world.ts";
import { BMC_FAULTS_ANNOTATION } from "./annotation.ts";

let world: HostWorld;
let workload: TestWorkload;
beforeEach(async () => {
  const clock = new VirtualClock();
  workload = await startWorkload({ clock, random: seededRandom(3) });
  world = await HostWorld.start(workload.connect, clock);
  await world.addSecret("bmc");
  const userData = workload.cloudConfig.replace(
    "        taints:",
    "        kubeletExtraArgs:\n        - name: node-labels\n          value: metal3.io/uuid={{ ds.meta_data.uuid }}\n        - name: provider-id\n          value: metal3://{{ ds.meta_data.providerid }}\n        taints:",
  );
  await world.addSecret("user", { value: userData, format: "cloud-config" });
  await world.addSecret("meta", {
    metaData: "local-hostname: node-a\nlocal_hostname: node-a\nproviderid: default/h1/m1\n",
  });
  await world.startController();
});
afterEach(async () => {
  await world.close();
  await workload.close();
});

const SPEC = {
  image: { url: "http://images/node-v1.34.4.iso", format: "live-iso" },
  userData: { name: "user", namespace: "default" },
  metaData: { name: "meta", namespace: "default" },
};
const ready = async (): Promise<string | undefined> =>
  (await workload.nodes())[0]?.status?.conditions?.find(({ type }) => type === "Ready")?.status;

/** Keys are made in real time, however much virtual time passes. */
async function untilReady(status: string): Promise<void> {
  for (let count = 0; count < 1000 && (await ready()) !== status; count++) await world.clock.advance(500);
  expect(await ready()).toBe(status);
}

test("a provisioned host boots and joins under the name, labels and provider ID that its config drive gives it", async () => {
  await world.addHost(SPEC);
  await world.until("provisioned", () => world.state() === "provisioned");
  await untilReady("True");
  const [node] = await workload.nodes();
  expect(node?.metadata.name).toBe("node-a");
  expect(node?.metadata.labels).toMatchObject({ "metal3.io/uuid": world.host()?.metadata.uid });
  expect(node?.spec?.providerID).toBe("metal3://default/h1/m1");
  expect(node?.status?.nodeInfo?.kubeletVersion).toBe("v1.34.4");
});

test("a node stops reporting while its host is powered off, and reports again afterwards", async () => {
  await world.addHost(SPEC);
  await world.until("provisioned", () => world.state() === "provisioned");
  await untilReady("True");
  await world.annotate({ "reboot.metal3.io/hold": "" });
  await untilReady("Unknown");
  await world.annotate({ "reboot.metal3.io/hold": null });
  await untilReady("True");
});

test("a machine that never boots is on and joins nothing", async () => {
  await world.addHost(SPEC, { annotations: { [BMC_FAULTS_ANNOTATION]: "never-boots" } });
  await world.until("provisioned", () => world.state() === "provisioned");
  await world.pass(120);
  expect(await workload.nodes()).toEqual([]);
});
