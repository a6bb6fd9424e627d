import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import {
  type HostIdentity,
  ImageChecks,
  type ProvisionRequest,
  RedfishDriver,
  type StepResult,
} from "@capstan/infra-metal3";
import { httpContent, httpDownload, MediaServer } from "@capstan/media";
import { openDialGate } from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mustRun } from "../real-kubernetes/index.ts";
import { BMC_USER, Bmc, type SystemState } from "./harness/bmc.ts";
import { sleep, timed } from "./harness/index.ts";

/** The Redfish driver against sushy-emulator: a management controller of another hand, with TLS and credentials. */
const SYSTEM = { uuid: "11111111-2222-3333-4444-555555555555", name: "metal-1", mac: "52:54:00:00:00:01" };

let dir: string;
let bmc: Bmc;
let media: MediaServer;
let driver: RedfishDriver;
let images: Server;
let liveIso: Buffer;
let state: SystemState | undefined;
let imageUrl: string;
const signal = new AbortController().signal;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "capstan-redfish-"));
  bmc = await Bmc.start({
    dir,
    address: "127.0.0.1",
    systems: [SYSTEM],
    changed: (next) => {
      state = next;
    },
  });
  liveIso = await makeLiveIso();
  images = createServer((_request, response) => response.end(liveIso));
  await new Promise<void>((resolve) => images.listen(0, "127.0.0.1", resolve));
  imageUrl = `http://127.0.0.1:${(images.address() as AddressInfo).port}/live.iso`;
  media = new MediaServer({ clock: systemClock, random: systemRandom, listen: { host: "127.0.0.1", port: 0 } });
  driver = new RedfishDriver({
    gate: openDialGate(),
    clock: systemClock,
    media,
    images: new ImageChecks(httpDownload({ gate: openDialGate(), clock: systemClock }), systemClock),
    open: (url, signal) => httpContent(url, signal, { gate: openDialGate(), clock: systemClock }),
  });
});

afterAll(async () => {
  await driver?.close(signal);
  await media?.close();
  await bmc?.close();
  images?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A bootable image made by an external program. */
async function makeLiveIso(): Promise<Buffer> {
  const root = join(dir, "live");
  mkdirSync(join(root, "boot"), { recursive: true });
  writeFileSync(join(root, "boot/boot.img"), Buffer.alloc(2048, "b"));
  writeFileSync(join(root, "filesystem.squashfs"), Buffer.alloc(300_000, "s"));
  const boot = ["-b", "boot/boot.img", "-no-emul-boot", "-c", "boot/boot.cat"];
  await mustRun("genisoimage", ["-quiet", "-J", "-r", "-V", "LIVE", ...boot, "-o", join(dir, "live.iso"), root]);
  return readFileSync(join(dir, "live.iso"));
}

function host(change: Partial<HostIdentity> = {}): HostIdentity {
  return {
    namespace: "default",
    name: "metal-1",
    uid: "u1",
    address: bmc.addressOf(SYSTEM),
    credentials: { ...BMC_USER, ca: bmc.caPem },
    disableCertificateVerification: false,
    bootMACAddress: SYSTEM.mac,
    bootMode: "UEFI",
    poweredOn: false,
    annotations: {},
    ...change,
  };
}

/** Asks until the driver is done, as the host controller does. */
async function until<T>(what: string, call: () => Promise<StepResult<T>>): Promise<T> {
  return await timed(what, async () => {
    for (let count = 0; count < 60; count++) {
      const result = await call();
      if (result.type === "done") return result.value;
      if (result.type === "failed") throw new Error(result.message);
      await sleep(result.againAfterMs);
    }
    throw new Error(`${what}: not in a minute`);
  });
}

const request = (change: Partial<ProvisionRequest["image"]> = {}): ProvisionRequest => ({
  image: { url: imageUrl, format: "live-iso", ...change },
  customDeploy: undefined,
  configDrive: {
    metaData: { uuid: "u1", "local-hostname": "metal-1" },
    userData: "#cloud-config\nruncmd: [date]\n",
    networkData: { links: [], networks: [], services: [] },
  },
});

test("registers with the CA of the Secret, and finds the only system without a path", async () => {
  expect(await driver.register(host(), signal)).toEqual({
    type: "done",
    value: { id: `/redfish/v1/Systems/${SYSTEM.uuid}` },
  });
  const address = `redfish-virtualmedia://127.0.0.1:${bmc.port}`;
  expect(await driver.register(host({ address, name: "other" }), signal)).toMatchObject({ type: "done" });
  expect(
    await driver.register(host({ address: bmc.addressOf(SYSTEM).replace(SYSTEM.uuid, SYSTEM.name) }), signal),
    "by name, which redirects",
  ).toMatchObject({ type: "done" });
});

test("says what is wrong: certificate, credentials, address, port; and never the password", async () => {
  const { ca: _, ...untrusted } = host().credentials;
  const cases: [Partial<HostIdentity>, RegExp, string][] = [
    [{ credentials: untrusted }, /self-signed certificate.*ca\.crt of the credentials Secret/, "unreachable"],
    [
      { credentials: { ...host().credentials, password: "wr0ng" } },
      /answered 401.*correct username and password/,
      "refused",
    ],
    [
      { address: "redfish-virtualmedia://127.0.0.1:1/redfish/v1/Systems/1" },
      /ECONNREFUSED.*check that the management controller is powered on/,
      "unreachable",
    ],
    [
      { address: `redfish-virtualmedia+http://127.0.0.1:${bmc.port}/redfish/v1/Systems/${SYSTEM.uuid}` },
      /./,
      "unreachable",
    ],
    [
      {
        address: `redfish-virtualmedia://127.0.0.1:${images.listening ? (images.address() as AddressInfo).port : 0}/x`,
      },
      /it does not speak TLS there/,
      "unreachable",
    ],
  ];
  for (const [change, text, access] of cases) {
    const result = await driver.register(host(change), signal);
    expect(result).toMatchObject({ type: "failed", access, message: expect.stringMatching(text) });
    expect(JSON.stringify(result)).not.toMatch(/correct horse|wr0ng/);
  }
  const missing = await driver.register(host({ address: bmc.addressOf({ ...SYSTEM, uuid: "nowhere" }) }), signal);
  expect(missing).toMatchObject({
    type: "failed",
    message: expect.stringMatching(/GET .*nowhere: the management controller answered 404/),
  });
  expect(
    await driver.register(host({ credentials: untrusted, disableCertificateVerification: true }), signal),
  ).toMatchObject({ type: "done" });
});

test("inspects what the emulator knows", async () => {
  const found = await until("inspected", () => driver.inspect(host(), signal));
  expect(found.nics).toEqual([{ name: SYSTEM.mac, mac: SYSTEM.mac }]);
  expect(found.systemVendor).toMatchObject({ manufacturer: "Sushy Emulator" });
});

test("powers on and off and waits until it is so", async () => {
  await until("on", () => driver.powerOn(host(), signal));
  expect(await driver.power(host(), signal)).toEqual({ type: "done", value: { on: true, health: "OK" } });
  expect(state?.power_state).toBe("On");
  await until("off", () => driver.powerOff(host(), "soft", signal));
  expect(state?.power_state).toBe("Off");
});

test("an image with a wrong checksum is not booted; one with the right one is, with its config drive on a second one", async () => {
  const wrong = await until("checked", () =>
    driver.provision(host(), request({ checksum: "0".repeat(64) }), signal),
  ).catch(String);
  expect(wrong).toMatch(/has the sha256 digest [0-9a-f]{64}, but spec.image.checksum says "0{64}"/);
  expect(state?.boot_image ?? {}).toEqual({});
  const checksum = createHash("sha256").update(liveIso).digest("hex");
  await until("provisioned", () => driver.provision(host(), request({ checksum }), signal));
  expect(state).toMatchObject({ power_state: "On", boot_device: "Cd" });
  const config = state?.boot_image?.["Usb"]?.[0] ?? "";
  const listing = await mustRun("isoinfo", ["-R", "-f", "-i", config]);
  expect(listing.split("\n").filter(Boolean)).toEqual([
    "/openstack",
    "/openstack/latest",
    "/openstack/latest/meta_data.json",
    "/openstack/latest/network_data.json",
    "/openstack/latest/user_data",
  ]);
  expect(await mustRun("isoinfo", ["-R", "-i", config, "-x", "/openstack/latest/user_data"])).toBe(
    "#cloud-config\nruncmd: [date]\n",
  );
  expect(await mustRun("blkid", ["-o", "value", "-s", "LABEL", config])).toBe("config-2\n");
  const before = bmc.log().split("InsertMedia").length;
  await until("again", () => driver.provision(host(), request({ checksum }), signal));
  expect(bmc.log().split("InsertMedia").length, "what is in the drives stays").toBe(before);
});

test("deprovisions: off, drives empty, boots from disk; nothing is served any more", async () => {
  await until("deprovisioned", () => driver.deprovision(host(), "metadata", signal));
  expect(state?.power_state).toBe("Off");
  expect(Object.values(state?.boot_image ?? {}).map(([, , inserted]) => inserted)).toEqual([false, false]);
  expect(driver.inFlight.peakPerKey).toBeLessThanOrEqual(2);
});

test("refused virtual media is reported with the status and a known message, never the answer's own text", async () => {
  const gone = await until("refused", () =>
    driver.provision(host(), request({ url: "http://127.0.0.1:1/live.iso" }), signal),
  ).catch(String);
  expect(gone).toMatch(/InsertMedia: the management controller answered (4|5)\d\d( \(\w+: [\w ]+\))?$/);
});

test("with one virtual drive only, the image comes with the config drive's files in it and still boots", async () => {
  let single: SystemState | undefined;
  const other = await Bmc.start({
    dir: join(dir, "single"),
    address: "127.0.0.1",
    systems: [SYSTEM],
    drives: { Cd: { Name: "Virtual CD", MediaTypes: ["CD", "DVD"] } },
    changed: (next) => {
      single = next;
    },
  });
  try {
    const one = host({
      name: "single",
      address: other.addressOf(SYSTEM),
      credentials: { ...BMC_USER, ca: other.caPem },
    });
    await until("provisioned", () => driver.provision(one, request(), signal));
    const image = single?.boot_image?.["Cd"]?.[0] ?? "";
    const listing = await mustRun("isoinfo", ["-R", "-f", "-i", image]);
    expect(listing.split("\n").filter((line) => line.includes("."))).toEqual([
      "/filesystem.squashfs",
      "/boot/boot.cat",
      "/boot/boot.img",
      "/openstack/latest/meta_data.json",
      "/openstack/latest/network_data.json",
    ]);
    expect(await mustRun("isoinfo", ["-R", "-i", image, "-x", "/openstack/latest/user_data"])).toMatch(
      /^#cloud-config/,
    );
    expect(await mustRun("isoinfo", ["-d", "-i", image])).toMatch(/Bootid 88 \(bootable\)/);
    await until("deprovisioned", () => driver.deprovision(one, "metadata", signal));
  } finally {
    await other.close();
  }
});
