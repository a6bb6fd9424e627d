import { afterEach, beforeEach, expect, test } from "vitest";
import { HostWorld } from "../testing/host-world.ts";

let world: HostWorld;
beforeEach(async () => {
  world = await HostWorld.start();
  await world.addSecret("bmc");
  await world.startController();
});
afterEach(() => world.close());

const IMAGE = { url: "http://images/live.iso", format: "live-iso" };

test("a host is registered, inspected, prepared, available and powered on", async () => {
  await world.addHost({ bootMACAddress: "00:11:22:33:44:55" });
  await world.until("available", () => world.state() === "available" && world.host()?.status?.poweredOn === true);
  const { status } = world.host() ?? {};
  expect(status).toMatchObject({
    operationalStatus: "OK",
    errorMessage: "",
    errorCount: 0,
    hardwareProfile: "unknown",
  });
  expect(status?.hardware?.nics?.[0]?.mac).toBe("00:11:22:33:44:55");
  expect(status?.goodCredentials?.credentials).toEqual({ name: "bmc", namespace: "default" });
  expect(status?.operationHistory?.register?.end).toBeDefined();
  expect(status?.operationHistory?.inspect?.end).toBeDefined();
  expect(world.hardwareData()?.spec?.hardware).toEqual(status?.hardware);
  expect(world.secret()?.metadata).toMatchObject({
    labels: { "environment.metal3.io": "baremetal" },
    finalizers: ["baremetalhost.metal3.io/secret"],
    ownerReferences: [expect.objectContaining({ kind: "BareMetalHost", name: "h1" })],
  });
  const conditions = Object.fromEntries(
    (status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );
  expect(conditions).toEqual({
    Ready: "False NotProvisioned",
    Manageable: "True Manageable",
    Provisioned: "False NotProvisioned",
    AvailableForProvisioning: "True Available",
    Progressing: "False NotProgressing",
    Healthy: "True Healthy",
  });
  expect(world.reasons()).toEqual([
    "Registered",
    "BMCAccessValidated",
    "InspectionStarted",
    "InspectionComplete",
    "ProfileSet",
    "PowerOn",
  ]);
});

test("an image is put on, exchanged and taken off", async () => {
  await world.addHost();
  await world.until("available", () => world.state() === "available");
  await world.change({ spec: { image: IMAGE } });
  await world.until("provisioned", () => world.state() === "provisioned");
  expect(world.host()?.status?.provisioning.image).toEqual(IMAGE);
  expect(world.host()?.status?.poweredOn).toBe(true);
  const first = world.bmcs.look("memory://rack1/h1")?.media;
  await world.change({ spec: { image: { ...IMAGE, checksum: "abc" } } });
  await world.pass(30);
  expect(world.state(), "a change of the checksum alone is none").toBe("provisioned");
  await world.change({ spec: { image: { url: "http://images/other.iso" } } });
  await world.until("other image", () => world.host()?.status?.provisioning.image?.url === "http://images/other.iso");
  expect(world.bmcs.look("memory://rack1/h1")?.media).not.toBe(first);
  await world.change({ spec: { image: null, online: false } });
  await world.until("available", () => world.state() === "available");
  expect(world.bmcs.look("memory://rack1/h1")).toEqual({ on: false, media: undefined });
  expect(world.host()?.status?.provisioning.image).toBeUndefined();
});

test("a host that a machine has claimed stays off until its image is there", async () => {
  await world.addHost({ online: false });
  await world.until("available", () => world.state() === "available");
  await world.change({ spec: { online: true, consumerRef: { kind: "Metal3Machine", name: "m1" } } });
  await world.pass(300);
  expect(world.bmcs.look("memory://rack1/h1")?.on).toBe(false);
  await world.change({ spec: { image: IMAGE } });
  await world.until("provisioned", () => world.state() === "provisioned");
  expect(world.reasons()).not.toContain("PowerOn");
});

test("deletion deprovisions, powers off and lets Secret and HardwareData go", async () => {
  await world.addHost();
  await world.until("available", () => world.state() === "available");
  await world.change({ spec: { image: IMAGE } });
  await world.until("provisioned", () => world.state() === "provisioned");
  await world.remove();
  await world.until("gone", () => world.host() === undefined);
  expect(world.bmcs.look("memory://rack1/h1")).toEqual({ on: false, media: undefined });
  expect(world.hardwareData()).toBeUndefined();
  expect(world.secret()?.metadata.finalizers ?? []).toEqual([]);
  expect(world.secret()?.metadata.ownerReferences ?? []).toEqual([]);
});

test("a steady host is silent", async () => {
  await world.addHost();
  await world.until("on", () => world.host()?.status?.poweredOn === true);
  await world.pass(5);
  const before = world.host()?.metadata.resourceVersion;
  await world.pass(1800);
  expect(world.host()?.metadata.resourceVersion).toBe(before);
});

test("powers on a host that was powered off manually; one that should be off stays off", async () => {
  await world.addHost();
  await world.until("on", () => world.host()?.status?.poweredOn === true);
  world.bmcs.press("memory://rack1/h1", false);
  await world.pass(150);
  expect(world.bmcs.look("memory://rack1/h1")?.on).toBe(true);
  await world.change({ spec: { online: false } });
  await world.until("off", () => world.host()?.status?.poweredOn === false);
  expect(world.bmcs.look("memory://rack1/h1")?.on).toBe(false);
});

test("a reboot annotation switches off and on once and is removed", async () => {
  await world.addHost();
  await world.until("on", () => world.host()?.status?.poweredOn === true);
  world.events.length = 0;
  await world.annotate({ "reboot.metal3.io": "" });
  await world.until("rebooted", () => world.reasons().includes("PowerOn"));
  expect(world.reasons()).toEqual(["PowerOff", "PowerOn"]);
  expect(world.host()?.metadata.annotations).toBeUndefined();
});

test("a reboot annotation with a key holds the host off until it is removed", async () => {
  await world.addHost();
  await world.until("on", () => world.host()?.status?.poweredOn === true);
  await world.annotate({ "reboot.metal3.io/repair": '{"mode":"hard"}' });
  await world.until("off", () => world.host()?.status?.poweredOn === false);
  await world.pass(300);
  expect(world.bmcs.look("memory://rack1/h1")?.on).toBe(false);
  await world.annotate({ "reboot.metal3.io/repair": null });
  await world.until("on", () => world.host()?.status?.poweredOn === true);
});

test("a host without BMC is only known; with one it is registered", async () => {
  await world.addHost({ bmc: null });
  await world.until("unmanaged", () => world.state() === "unmanaged");
  expect(world.host()?.status?.operationalStatus).toBe("discovered");
  await world.change({ spec: { bmc: { address: "memory://rack1/h1", credentialsName: "bmc" } } });
  await world.until("available", () => world.state() === "available");
});

test("an externally provisioned host is adopted: no inspection, no change, only power", async () => {
  world.bmcs.press("memory://rack1/h1", true);
  await world.addHost({ externallyProvisioned: true });
  await world.until(
    "adopted",
    () => world.state() === "externally provisioned" && world.host()?.status?.poweredOn === true,
  );
  expect(world.reasons()).toEqual(["Registered", "BMCAccessValidated"]);
  expect(world.host()?.status?.hardware).toBeUndefined();
});

test("a detached host is left alone until the annotation is removed", async () => {
  await world.addHost();
  await world.until("on", () => world.host()?.status?.poweredOn === true);
  await world.annotate({ "baremetalhost.metal3.io/detached": "" });
  await world.until("detached", () => world.host()?.status?.operationalStatus === "detached");
  world.bmcs.press("memory://rack1/h1", false);
  await world.pass(600);
  expect(world.bmcs.look("memory://rack1/h1")?.on).toBe(false);
  await world.annotate({ "baremetalhost.metal3.io/detached": null });
  await world.until("on again", () => world.bmcs.look("memory://rack1/h1")?.on === true);
  await world.pass(2);
  expect(world.host()?.status?.operationalStatus).toBe("OK");
});

test("a detached host is deleted without a look at its BMC, unless deletion is to wait", async () => {
  await world.addHost();
  await world.until("on", () => world.host()?.status?.poweredOn === true);
  await world.annotate({ "baremetalhost.metal3.io/detached": '{"deleteAction":"delay"}' });
  await world.until("detached", () => world.host()?.status?.operationalStatus === "detached");
  await world.remove();
  await world.pass(60);
  expect(world.host()).toBeDefined();
  await world.annotate({ "baremetalhost.metal3.io/detached": "" });
  await world.until("gone", () => world.host() === undefined);
  expect(world.bmcs.look("memory://rack1/h1")?.on).toBe(true);
});

test("a paused host is not touched, not even deleted", async () => {
  await world.addHost({}, { annotations: { "baremetalhost.metal3.io/paused": "x" } });
  await world.pass(60);
  expect(world.host()?.status).toBeUndefined();
  expect(world.host()?.metadata.finalizers).toBeUndefined();
  await world.annotate({ "baremetalhost.metal3.io/paused": null });
  await world.until("available", () => world.state() === "available");
  await world.annotate({ "baremetalhost.metal3.io/paused": "metal3.io/capm3" });
  await world.remove();
  await world.pass(60);
  expect(world.host()).toBeDefined();
});

test("a status that a move carried along is taken over: the host is not provisioned again", async () => {
  const image = IMAGE;
  const status = {
    operationalStatus: "OK",
    errorMessage: "",
    errorCount: 0,
    poweredOn: true,
    provisioning: { state: "provisioned", ID: "memory://rack1/h1", image },
    surprise: 1,
  };
  await world.addHost({ image }, { annotations: { "baremetalhost.metal3.io/status": JSON.stringify(status) } });
  await world.pass(60);
  expect(world.state()).toBe("provisioned");
  expect(world.host()?.metadata.annotations).toBeUndefined();
  expect(world.reasons()).toEqual(["BMCAccessValidated"]);
});

test("a host is inspected again when asked, and its annotation is removed", async () => {
  await world.addHost();
  await world.until("available", () => world.state() === "available");
  world.events.length = 0;
  await world.annotate({ "inspect.metal3.io": "" });
  await world.until("inspected", () => world.reasons().includes("InspectionComplete") && world.state() === "available");
  expect(world.host()?.metadata.annotations).toBeUndefined();
});

test("hardware details given by hand are used where inspection is disabled", async () => {
  const hardware = { cpu: { arch: "aarch64", count: 4 }, nics: [{ name: "eth0", mac: "00:00:00:00:00:01" }] };
  const annotations = {
    "inspect.metal3.io": "disabled",
    "inspect.metal3.io/hardwaredetails": JSON.stringify(hardware),
  };
  await world.addHost({}, { annotations });
  await world.until("available", () => world.state() === "available");
  expect(world.host()?.status?.hardware).toEqual(hardware);
  expect(world.hardwareData()?.spec?.hardware).toEqual(hardware);
  expect(world.reasons()).toContain("InspectionSkipped");
});

const OPERATOR = "baremetal-operator-controller-manager";

/** A Deployment that is called as upstream's operator. */
async function addOperator(namespace: string): Promise<void> {
  const spec = { serviceAccountName: OPERATOR, containers: [{ name: "c", image: "i" }] };
  await world.client.create({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace, name: OPERATOR },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec },
    },
  } as never);
}

/** What the ServiceAccount of an operator may do with hosts: everywhere, or in one namespace. */
async function bindOperator(namespace: string, kind: "ClusterRoleBinding" | "RoleBinding"): Promise<void> {
  const group = "rbac.authorization.k8s.io";
  const metadata = { name: "operator" };
  const rules = [{ apiGroups: ["metal3.io"], resources: ["baremetalhosts"], verbs: ["*"] }];
  await world.client.create({ apiVersion: `${group}/v1`, kind: "ClusterRole", metadata, rules } as never);
  await world.client.create({
    apiVersion: `${group}/v1`,
    kind,
    metadata: kind === "RoleBinding" ? { ...metadata, namespace } : metadata,
    roleRef: { apiGroup: group, kind: "ClusterRole", name: "operator" },
    subjects: [{ kind: "ServiceAccount", namespace, name: OPERATOR }],
  } as never);
}

test("does nothing while upstream's operator is running", async () => {
  await addOperator("default");
  await bindOperator("default", "ClusterRoleBinding");
  await world.addHost();
  await world.pass(120);
  expect(world.host()?.metadata.finalizers).toBeUndefined();
  await world.server.internal.delete({ group: "apps", plural: "deployments" }, "default", OPERATOR);
  await world.until("available", () => world.state() === "available");
});

test("a Deployment of that name does not stop ours where it may not change hosts", async () => {
  await world.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "tenant" } } as never);
  await addOperator("tenant");
  await bindOperator("tenant", "RoleBinding");
  await world.addHost();
  await world.until("available", () => world.state() === "available");
});
