import { findCondition } from "@capstan/apimachinery";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BareMetalHost } from "../kinds/bare-metal-host.ts";
import { whyNotFree } from "../machine/choose-host.ts";
import { BMC_FAULTS_ANNOTATION } from "../provisioner/memory/annotation.ts";
import { HostWorld } from "../testing/host-world.ts";

let world: HostWorld;
beforeEach(async () => {
  world = await HostWorld.start();
  await world.addSecret("bmc");
  await world.startController();
});
afterEach(() => world.close());

const IMAGE = { url: "http://images/live.iso", format: "live-iso" };
const faulty = (faults: string): object => ({ annotations: { [BMC_FAULTS_ANNOTATION]: faults } });
const ready = (name = "h1") => findCondition(world.host(name)?.status?.conditions ?? [], "Ready");
const heal = (): Promise<void> => world.annotate({ [BMC_FAULTS_ANNOTATION]: null });

/** The error is reported in status, condition and event, and retried with back-off until it is fixed. */
async function troubled(type: string, text: RegExp, event: string): Promise<void> {
  await world.until(type, () => world.host()?.status?.errorType === type);
  expect(world.host()?.status?.errorMessage).toMatch(text);
  expect(world.host()?.status?.operationalStatus).toBe("error");
  expect(ready()).toMatchObject({ status: "False", reason: "Error", message: expect.stringMatching(text) });
  expect(world.events).toContainEqual(expect.stringMatching(new RegExp(`^${event}: .*${text.source}`)));
}

async function available(): Promise<void> {
  await world.until("available", () => world.state() === "available" && world.host()?.status?.errorType === undefined);
  expect(world.host()?.status).toMatchObject({ operationalStatus: "OK", errorMessage: "", errorCount: 0 });
}

test("BMC unreachable: reported, retried with back-off, registered when it answers", async () => {
  await world.addHost({}, faulty("unreachable"));
  await troubled(
    "registration error",
    /ECONNREFUSED.*check that the management controller is powered on/,
    "RegistrationError",
  );
  await world.pass(3600);
  const { errorCount = 0 } = world.host()?.status ?? {};
  expect(errorCount).toBeGreaterThan(4);
  expect(errorCount, "an hour of doubling waits").toBeLessThan(12);
  expect(world.reasons().filter((reason) => reason === "RegistrationError").length).toBeLessThanOrEqual(4);
  await heal();
  await available();
});

test("wrong credentials: reported, and a new password is tried at once", async () => {
  await world.client.patch({ kind: SECRET, namespace: "default", name: "bmc" }, { stringData: { password: "wrong" } });
  await world.addHost();
  await troubled("registration error", /401 Unauthorized.*correct username and password/, "BMCCredentialError");
  await world.pass(3600);
  expect(world.host()?.status?.goodCredentials).toBeUndefined();
  expect(world.host()?.status?.triedCredentials?.credentials?.name).toBe("bmc");
  await world.client.patch(
    { kind: SECRET, namespace: "default", name: "bmc" },
    { stringData: { password: "Tr0ub4dor" } },
  );
  await world.pass(2);
  expect(world.state()).toBe("available");
  expect(JSON.stringify([world.host(), world.events])).not.toContain("Tr0ub4dor");
});

test("credentials Secret missing or half empty: reported with its name, and found as soon as the back-off allows", async () => {
  await world.addHost({ bmc: { address: "memory://rack1/h1", credentialsName: "nowhere" } });
  await troubled("registration error", /Secret nowhere .* does not exist: create it/, "RegistrationError");
  await world.addSecret("nowhere", { username: "admin" });
  await world.until("password missing", () => /has no password/.test(world.host()?.status?.errorMessage ?? ""));
  await world.client.patch({ kind: SECRET, namespace: "default", name: "nowhere" }, { stringData: { password: "x" } });
  await available();
});

test("credentials changed while provisioned: the host keeps running whatever the BMC answers", async () => {
  await world.addHost({ image: IMAGE });
  await world.until("provisioned", () => world.state() === "provisioned");
  await world.client.patch({ kind: SECRET, namespace: "default", name: "bmc" }, { stringData: { password: "wrong" } });
  await troubled("provisioned registration error", /401/, "BMCCredentialError");
  await world.pass(600);
  expect(world.state()).toBe("provisioned");
  expect(world.bmcs.look("memory://rack1/h1")?.on).toBe(true);
});

test("self-signed certificate: reported with both remedies", async () => {
  await world.addHost({}, faulty("self-signed"));
  await troubled(
    "registration error",
    /self-signed certificate: put its CA into ca.crt .*disableCertificateVerification/,
    "RegistrationError",
  );
  await world.change({ spec: { bmc: { disableCertificateVerification: true } } });
  await available();
});

test("power that lies: reported after five minutes, with what was accepted and what is reported", async () => {
  await world.addHost();
  await world.until("on", () => world.host()?.status?.poweredOn === true);
  await world.annotate({ [BMC_FAULTS_ANNOTATION]: "power-lies" });
  await world.change({ spec: { online: false } });
  await troubled(
    "power management error",
    /Reset ForceOff was accepted, but the power is still on; this has taken \d+ s/,
    "PowerManagementError",
  );
  expect(findCondition(world.host()?.status?.conditions ?? [], "Manageable")).toMatchObject({ reason: "PowerFailure" });
  expect(world.host()?.status?.poweredOn).toBe(true);
  await heal();
  await world.until("off", () => world.host()?.status?.poweredOn === false);
  await available();
});

test("virtual media that refuses: tried again, then taken off and put on again, five times at most", async () => {
  await world.addHost({ image: IMAGE }, faulty("media-refused"));
  await troubled("provisioning error", /InsertMedia: the management controller answered 400/, "ProvisioningError");
  await world.until("deprovisioning", () => world.reasons().includes("DeprovisioningStarted"));
  await world.until(
    "given up",
    () => world.host()?.status?.errorMessage.startsWith("Provisioning failed 5 times") === true,
    20_000,
  );
  expect(world.state()).toBe("available");
  expect(world.host()?.status?.provisioningFailCount).toBe(5);
  const before = world.events.length;
  await world.pass(7200);
  expect(world.events.length, "nothing more is tried").toBe(before);
  await heal();
  await world.change({ spec: { image: { ...IMAGE, url: "http://images/other.iso" } } });
  await world.until("provisioned", () => world.state() === "provisioned");
  expect(world.host()?.status?.provisioningFailCount ?? 0).toBe(0);
  expect(ready()?.status).toBe("True");
});

test("image with wrong checksum: fails at once, and the host is free for another image", async () => {
  await world.addHost({ image: IMAGE }, faulty("bad-checksum"));
  await troubled("provisioning error", /is not what spec.image.checksum says/, "ProvisioningError");
  await heal();
  await world.change({ spec: { image: null } });
  await available();
  expect(world.host()?.status?.provisioningFailCount).toBeUndefined();
});

test("two hosts with one MAC: the second is refused with the name of the first, until the first is deleted", async () => {
  await world.addHost({ bootMACAddress: "00:11:22:33:44:55" }, {}, "first");
  await world.until("available", () => world.state("first") === "available");
  await world.pass(1);
  await world.addHost({ bootMACAddress: "00:11:22:33:44:55".toUpperCase() }, {}, "second");
  await world.pass(5);
  expect(world.host("second")?.status?.errorMessage).toMatch(
    /MAC address 00:11:22:33:44:55 is also used by BareMetalHost default\/first/,
  );
  expect(ready("second")).toMatchObject({
    status: "False",
    reason: "Error",
    message: expect.stringMatching(/delete one/),
  });
  expect(world.events).toContainEqual(
    expect.stringMatching(/^RegistrationError: The MAC address .* correct or delete/),
  );
  expect(world.state("first")).toBe("available");
  await world.remove("first");
  await world.until("second takes over", () => world.state("second") === "available", 60);
});

test("two hosts with one BMC address: the same", async () => {
  await world.addHost({ bmc: { address: "memory://same", credentialsName: "bmc" } }, {}, "first");
  await world.pass(3);
  await world.addHost({ bmc: { address: "memory://SAME/", credentialsName: "bmc" } }, {}, "second");
  await world.pass(3);
  expect(world.host("second")?.status?.errorMessage).toMatch(/BMC address memory:\/\/same is also used by/);
});

test("one BMC spelled in two ways is one machine", async () => {
  world.redfish = world.bmcs;
  await world.startController();
  const address = (text: string) => ({ bmc: { address: text, credentialsName: "bmc" } });
  await world.addHost(address("redfish-virtualmedia://10.0.0.5/redfish/v1/Systems/1"), {}, "first");
  await world.pass(3);
  await world.addHost(address("redfish+https://10.0.0.5:443/redfish/v1/Systems/1/"), {}, "second");
  await world.addHost(address("redfish://10.0.0.5/redfish/v1/Systems/2"), {}, "third");
  await world.pass(3);
  expect(world.host("second")?.status?.errorMessage).toContain(
    "BMC address https://10.0.0.5/redfish/v1/systems/1 is also used by BareMetalHost default/first",
  );
  expect(world.host("third")?.status?.errorMessage ?? "").not.toContain("is also used by");
});

test("host deleted while provisioning: it is deprovisioned and powered off first", async () => {
  await world.addHost({ image: IMAGE, bmc: { address: "memory://rack1/h1?power=30s", credentialsName: "bmc" } });
  await world.until("provisioning", () => world.state() === "provisioning");
  await world.remove();
  await world.until("gone", () => world.host() === undefined);
  expect(world.bmcs.look("memory://rack1/h1?power=30s")).toEqual({ on: false, media: undefined });
});

test.each(["registering", "inspecting", "available", "provisioning", "provisioned"])(
  "the BMC disappears while %s and never comes back: deletion gives up, says so and completes",
  async (phase) => {
    const slow = phase === "provisioning" ? "?power=100s" : "";
    const faults = phase === "registering" ? "unreachable" : phase === "inspecting" ? "inspection-fails" : "";
    await world.addHost({ bmc: { address: `memory://rack1/h1${slow}`, credentialsName: "bmc" } }, faulty(faults));
    if (phase.startsWith("provision")) await world.change({ spec: { image: IMAGE } });
    await world.until(phase, () => world.state() === phase);
    await world.annotate({ [BMC_FAULTS_ANNOTATION]: "unreachable" });
    await world.remove();
    await world.until("gone", () => world.host() === undefined, 1200);
    expect(world.secret()?.metadata.finalizers ?? []).toEqual([]);
    if (phase !== "registering")
      expect(world.events).toContainEqual(
        expect.stringMatching(/^DeletionForced: .*clean it manually: .*ECONNREFUSED/),
      );
  },
);

test("an inspection that fails is reported with the BMC's answer and repeated", async () => {
  await world.addHost({}, faulty("inspection-fails"));
  await troubled(
    "inspection error",
    /GET \/Systems\/1\/Processors: the management controller answered 500/,
    "InspectionError",
  );
  await heal();
  await available();
});

test("a slow machine is waited for", async () => {
  await world.addHost({ image: IMAGE }, faulty("slow"));
  await world.until("provisioned", () => world.state() === "provisioned", 300);
  expect(world.host()?.status?.errorCount).toBe(0);
});

test("an unsupported or invalid address is reported with what it should be", async () => {
  await world.addHost({ bmc: { address: "ipmi://10.0.0.1", credentialsName: "bmc" } });
  await troubled("registration error", /no driver supports ipmi:\/\/; use a redfish address/, "RegistrationError");
});

test("deleted with its Secret in one go, as kubectl delete -f does: the Secret waits for the host", async () => {
  await world.addHost({ image: IMAGE });
  await world.until("provisioned", () => world.state() === "provisioned");
  await world.client.delete({ kind: SECRET, namespace: "default", name: "bmc" });
  await world.remove();
  await world.until("gone", () => world.host() === undefined);
  expect(world.secret()).toBeUndefined();
  expect(world.bmcs.look("memory://rack1/h1")?.on).toBe(false);
});

test("a missing user data Secret is reported by name and waited for", async () => {
  await world.addHost({ image: IMAGE, userData: { name: "user", namespace: "default" } });
  await troubled("provisioning error", /Secret user of spec.userData does not exist/, "ProvisioningError");
  await world.addSecret("user", { value: "#cloud-config\n" });
  await world.until("provisioned", () => world.state() === "provisioned");
});

test("hardware in a critical state is reported, and its repair too", async () => {
  const healthy = () => findCondition(world.host()?.status?.conditions ?? [], "Healthy");
  await world.addHost();
  await available();
  expect(healthy()?.status).toBe("True");
  await world.annotate({ [BMC_FAULTS_ANNOTATION]: "broken-fan" });
  await world.pass(2);
  expect(healthy()).toMatchObject({
    status: "False",
    reason: "CriticalError",
    message: expect.stringMatching(/repair it/),
  });
  expect(whyNotFree(world.host() as BareMetalHost)).toBe("in bad health");
  await heal();
  await world.pass(2);
  expect(healthy()?.status).toBe("True");
  expect(world.reasons().filter((reason) => reason.startsWith("Health"))).toEqual(["HealthDegraded", "HealthRestored"]);
});

const SECRET = { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true };

test("many hosts that share one Secret become its owners together, and the credentials are not tried again for that", async () => {
  const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
  let writes = 0;
  world.server.internal.watch({ group: "", plural: "secrets" }, ({ name }) => {
    if (name === "bmc") writes++;
  });
  await world.stopController();
  for (const name of names) await world.addHost({ online: false }, {}, name);
  await world.startController();
  await world.until("all available", () => names.every((name) => world.state(name) === "available"));
  await world.pass(300);
  expect(world.secret()?.metadata.ownerReferences).toHaveLength(names.length);
  expect(writes).toBeLessThanOrEqual(names.length / 2);
  expect(world.reasons().filter((reason) => reason === "BMCAccessValidated")).toHaveLength(names.length);
  await world.client.patch({ kind: SECRET, namespace: "default", name: "bmc" }, { stringData: { password: "other" } });
  await world.pass(5);
  expect(world.reasons().filter((reason) => reason === "BMCAccessValidated")).toHaveLength(2 * names.length);
});

test("credentials made with echo, which end in a line break, are good", async () => {
  await world.client.patch({ kind: SECRET, namespace: "default", name: "bmc" }, { stringData: { password: " \n" } });
  await world.addHost();
  await troubled("registration error", /Secret bmc has no password/, "RegistrationError");
  await world.client.patch({ kind: SECRET, namespace: "default", name: "bmc" }, { stringData: { password: "x\n" } });
  await available();
});

test("a machine that is broken in the demo shows it at once, and its repair too", async () => {
  await world.addHost({ image: IMAGE });
  await world.until("provisioned", () => world.state() === "provisioned");
  await world.pass(10);
  await world.annotate({ [BMC_FAULTS_ANNOTATION]: "unreachable" });
  await world.pass(1);
  expect(ready()).toMatchObject({ status: "False", reason: "Error", message: expect.stringContaining("ECONNREFUSED") });
  expect(world.reasons().at(-1)).toBe("ProvisionedRegistrationError");
  await heal();
  await world.pass(1);
  expect(ready()?.status).toBe("True");
});
