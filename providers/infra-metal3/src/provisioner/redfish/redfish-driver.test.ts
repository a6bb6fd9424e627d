import { setMaxListeners } from "node:events";
import { buildIso, bytesContent, type MediaContent, readAll } from "@capstan/media";
import { readIso } from "@capstan/media/testing";
import { openDialGate } from "@capstan/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FakeRedfish, hastyClock, type Reply, type Seen } from "../../testing/fake-redfish.ts";
import { finished, type ProvisionRequest, type StepResult } from "../provisioner.ts";
import { RedfishDriver } from "./redfish-driver.ts";

const SYSTEM = "/redfish/v1/Systems/1";
const TOKEN = "t".repeat(43);
const MEDIA = "/redfish/v1/Managers/1/VirtualMedia";
const { signal } = new AbortController();
// As in a controller, one signal aborts all calls.
setMaxListeners(0, signal);

let bmc: FakeRedfish;
let driver: RedfishDriver;
let published: MediaContent | undefined;
/** How often what is served was made to last longer. */
let renewed: number;
/** What the drives say of how they fetch images. */
let transfer: Record<string, unknown>;
let system: Record<string, unknown>;
let drives: Record<string, { Image: string | null; Inserted: boolean }>;

beforeEach(async () => {
  renewed = 0;
  transfer = {};
  bmc = await FakeRedfish.start();
  driver = new RedfishDriver({
    gate: openDialGate(),
    clock: hastyClock,
    media: {
      canSecure: true,
      publish: async (key, content, _addresses, secure) => {
        published = content;
        return secure === true ? `https://media/media/${TOKEN}/media.iso` : `http://media/${key}/config.iso`;
      },
      renew: () => void renewed++,
      withdraw: () => undefined,
    },
    open: async () => bytesContent(LIVE),
    images: { check: () => finished() },
  });
  system = {
    "@odata.id": SYSTEM,
    PowerState: "Off",
    Boot: { BootSourceOverrideTarget: "None", BootSourceOverrideEnabled: "Disabled", BootSourceOverrideMode: "UEFI" },
    Links: { ManagedBy: [{ "@odata.id": "/redfish/v1/Managers/1" }] },
    Actions: {
      "#ComputerSystem.Reset": {
        target: `${SYSTEM}/reset`,
        "ResetType@Redfish.AllowableValues": ["On", "ForceOff", "GracefulShutdown", "ForceRestart"],
      },
    },
  };
  drives = { "1": { Image: null, Inserted: false }, "2": { Image: null, Inserted: false } };
  bmc.on("GET /redfish/v1/", { Links: {} });
  bmc.on(`GET ${SYSTEM}`, () => ({ body: system }));
  bmc.on(`POST ${SYSTEM}/reset`, ({ body }: Seen): Reply => {
    system["PowerState"] = body["ResetType"] === "On" ? "On" : "Off";
    return { status: 204 };
  });
  bmc.on(`PATCH ${SYSTEM}`, ({ body }: Seen): Reply => {
    Object.assign(system["Boot"] as object, body["Boot"]);
    return { status: 204 };
  });
  bmc.on("GET /redfish/v1/Managers/1", { VirtualMedia: { "@odata.id": MEDIA } });
  bmc.on(`GET ${MEDIA}`, { Members: [{ "@odata.id": `${MEDIA}/1` }, { "@odata.id": `${MEDIA}/2` }] });
  for (const id of ["1", "2"]) {
    const path = `${MEDIA}/${id}`;
    const actions = {
      get "#VirtualMedia.InsertMedia"() {
        return { target: `${path}/insert`, ...transfer };
      },
      "#VirtualMedia.EjectMedia": { target: `${path}/eject` },
    };
    bmc.on(`GET ${path}`, () => ({
      body: { "@odata.id": path, MediaTypes: ["CD", "DVD"], Actions: actions, ...drives[id] },
    }));
    bmc.on(`POST ${path}/insert`, ({ body }: Seen): Reply => {
      drives[id] = { Image: String(body["Image"]), Inserted: true };
      return { status: 204 };
    });
    bmc.on(`POST ${path}/eject`, (): Reply => {
      drives[id] = { Image: null, Inserted: false };
      return { status: 204 };
    });
  }
});
afterEach(async () => {
  await driver.close(signal);
  await bmc.close();
});

const LIVE = buildIso({ label: "LIVE", files: new Map([["live/root", Buffer.from("r")]]), nowMs: 0 });
const REQUEST: ProvisionRequest = {
  image: { url: "http://images/live.iso", format: "live-iso" },
  customDeploy: undefined,
  configDrive: { metaData: { uuid: "u" }, userData: "#cloud-config\n", networkData: undefined },
};

/** Asks until it is done or has failed. */
async function end<T>(call: () => Promise<StepResult<T>>): Promise<StepResult<T>> {
  for (;;) {
    const result = await call();
    if (result.type !== "working") return result;
  }
}

test("a live ISO and its config drive go into the Manager's two drives while the machine is off, then it boots from CD", async () => {
  system["PowerState"] = "On";
  expect(await end(() => driver.provision(bmc.host(), REQUEST, signal))).toMatchObject({ type: "done" });
  expect(bmc.writes()).toEqual([
    `POST ${SYSTEM}/reset`,
    `POST ${MEDIA}/1/insert`,
    `POST ${MEDIA}/2/insert`,
    `PATCH ${SYSTEM}`,
    `POST ${SYSTEM}/reset`,
  ]);
  expect(drives["1"]?.Image).toBe("http://images/live.iso");
  expect(drives["2"]?.Image).toBe("http://media/default/h1/config.iso");
  expect(system).toMatchObject({
    PowerState: "On",
    Boot: { BootSourceOverrideTarget: "Cd", BootSourceOverrideEnabled: "Continuous" },
  });
  bmc.seen.length = 0;
  expect(await driver.provision(bmc.host(), REQUEST, signal)).toMatchObject({ type: "done" });
  expect(bmc.writes(), "a repeat does nothing").toEqual([]);
  expect(await end(() => driver.deprovision(bmc.host(), "metadata", signal))).toMatchObject({ type: "done" });
  expect(drives).toEqual({ "1": { Image: null, Inserted: false }, "2": { Image: null, Inserted: false } });
  expect(system).toMatchObject({ PowerState: "Off", Boot: { BootSourceOverrideEnabled: "Disabled" } });
});

test("what is in the drives from an earlier use is taken out first", async () => {
  drives["1"] = { Image: "http://old/image.iso", Inserted: true };
  await end(() => driver.provision(bmc.host(), REQUEST, signal));
  expect(bmc.writes()).toContain(`POST ${MEDIA}/1/eject`);
  expect(drives["1"]?.Image).toBe("http://images/live.iso");
});

test("one virtual drive only: the image is served with the files of the config drive in it", async () => {
  bmc.on(`GET ${MEDIA}`, { Members: [{ "@odata.id": `${MEDIA}/1` }] });
  expect(await end(() => driver.provision(bmc.host(), REQUEST, signal))).toMatchObject({ type: "done" });
  expect(drives["1"]?.Image).toBe("http://media/default/h1/config.iso");
  const image = published === undefined ? Buffer.alloc(0) : await readAll(published, 0, published.size);
  expect([...readIso(image, false).keys()].sort()).toEqual([
    "live/root",
    "openstack/latest/meta_data.json",
    "openstack/latest/user_data",
  ]);
});

test("a config drive is served until the system has started, an image it runs from as long as it runs", async () => {
  const look = async (): Promise<number> => {
    renewed = 0;
    await driver.power(bmc.host(), signal);
    return renewed;
  };
  await end(() => driver.provision(bmc.host(), REQUEST, signal));
  expect(await look(), "two drives").toBe(0);
  await driver.reboot(bmc.host(), "hard", signal);
  expect(renewed, "it starts again").toBe(1);
  await end(() => driver.powerOff(bmc.host(), "hard", signal));
  await end(() => driver.powerOn(bmc.host(), signal));
  expect(renewed).toBeGreaterThan(1);

  bmc.on(`GET ${MEDIA}`, { Members: [{ "@odata.id": `${MEDIA}/1` }] });
  await end(() => driver.provision(bmc.host(), REQUEST, signal));
  expect(await look(), "one drive").toBe(1);
  await end(() => driver.powerOff(bmc.host(), "hard", signal));
  expect(await look(), "off").toBe(0);
});

describe("what we serve is fetched", () => {
  const HTTPS = { "TransferProtocolType@Redfish.AllowableValues": ["HTTP", "HTTPS", "NFS"] };
  const HTTP = { "TransferProtocolType@Redfish.AllowableValues": ["HTTP"] };
  const annotated = (transport: string) => ({ annotations: { "capstan.dev/media-transport": transport } });

  test.each<[string, object, Parameters<FakeRedfish["host"]>[0], string]>([
    ["by HTTPS if the management controller can", HTTPS, {}, "https:"],
    ["by HTTP if it cannot", HTTP, {}, "http:"],
    ["by HTTP if it does not say", {}, {}, "http:"],
    ["by HTTPS if requested", {}, annotated("https"), "https:"],
    ["by HTTP if requested", HTTPS, annotated("http"), "http:"],
  ])("%s", async (_, says, host, scheme) => {
    Object.assign(transfer, says);
    await end(() => driver.provision(bmc.host(host), REQUEST, signal));
    expect(new URL(drives["2"]?.Image ?? "").protocol).toBe(scheme);
    expect(drives["1"]?.Image, "the image is not ours").toBe("http://images/live.iso");
  });

  test("without a check of our own authority, which it cannot know", async () => {
    Object.assign(transfer, HTTPS);
    const verified: unknown[] = [];
    for (const id of ["1", "2"]) {
      Object.assign(drives[id] ?? {}, { VerifyCertificate: true });
      bmc.on(`PATCH ${MEDIA}/${id}`, ({ body }: Seen): Reply => {
        verified.push([id, body]);
        return { status: 204 };
      });
    }
    await end(() => driver.provision(bmc.host(), REQUEST, signal));
    expect(verified).toEqual([["2", { VerifyCertificate: false }]]);
  });

  test("reports how to fix one that lists HTTPS but does not support it", async () => {
    Object.assign(transfer, HTTPS);
    bmc.on(`POST ${MEDIA}/2/insert`, (): Reply => ({ status: 400, body: { error: { message: "unknown authority" } } }));
    expect(await end(() => driver.provision(bmc.host(), REQUEST, signal))).toMatchObject({
      type: "failed",
      message: expect.stringMatching(/answered 400.*annotate the BareMetalHost capstan.dev\/media-transport=http$/),
    });
  });

  test("as it began, while a machine runs from it", async () => {
    Object.assign(transfer, HTTPS);
    const before = `http://media/media/${TOKEN}/media.iso`;
    drives["2"] = { Image: before, Inserted: true };
    await driver.adopt(bmc.host(), REQUEST, signal);
    expect(published).toBeDefined();
    expect(drives["2"]).toEqual({ Image: before, Inserted: true });
  });
});

test("no virtual CD: reported, nothing is changed", async () => {
  bmc.on(`GET ${MEDIA}`, { Members: [] });
  expect(await driver.provision(bmc.host(), REQUEST, signal)).toMatchObject({
    type: "failed",
    fatal: true,
    message: expect.stringMatching(/offers no virtual CD/),
  });
  expect(bmc.writes()).toEqual([]);
});

test("a disk image is refused with what to do instead", async () => {
  const image = { url: "http://images/disk.qcow2", format: "qcow2" as const, checksum: "x" };
  expect(await driver.provision(bmc.host(), { ...REQUEST, image }, signal)).toMatchObject({
    type: "failed",
    fatal: true,
    message: expect.stringMatching(/boots live-iso images only/),
  });
  expect(bmc.seen).toEqual([]);
});

test("opens a session, uses it, renews it when it expires, and closes it", async () => {
  let token = 0;
  bmc.on("GET /redfish/v1/", { Links: { Sessions: { "@odata.id": "/redfish/v1/SessionService/Sessions" } } });
  bmc.on(
    "POST /redfish/v1/SessionService/Sessions",
    ({ body }: Seen): Reply =>
      body["Password"] === "s3cret"
        ? {
            status: 201,
            headers: {
              "x-auth-token": `t${++token}`,
              location: `${bmc.origin}/redfish/v1/SessionService/Sessions/${token}`,
            },
          }
        : { status: 401 },
  );
  bmc.on("DELETE /redfish/v1/SessionService/Sessions/2", { ok: true });
  bmc.on(
    `GET ${SYSTEM}`,
    ({ headers }: Seen): Reply => (headers["x-auth-token"] === `t${token}` ? { body: system } : { status: 401 }),
  );
  expect(await driver.power(bmc.host(), signal)).toMatchObject({ type: "done" });
  expect(await driver.power(bmc.host(), signal)).toMatchObject({ type: "done" });
  expect(token, "one session for many requests").toBe(1);
  bmc.on(
    `GET ${SYSTEM}`,
    ({ headers }: Seen): Reply => (headers["x-auth-token"] === "t2" ? { body: system } : { status: 401 }),
  );
  expect(await driver.power(bmc.host(), signal)).toMatchObject({ type: "done" });
  await driver.release(bmc.host(), signal);
  expect(bmc.writes().at(-1)).toBe("DELETE /redfish/v1/SessionService/Sessions/2");
  expect(
    bmc.seen.some(({ headers }) => headers.authorization !== undefined),
    "the password goes into the login alone",
  ).toBe(false);
  const refused = await driver.register(bmc.host({ credentials: { username: "admin", password: "other" } }), signal);
  expect(refused).toMatchObject({ type: "failed", access: "refused" });
});

test.each<[object | undefined, string | undefined]>([
  [{ Health: "OK" }, "OK"],
  [{ Health: "OK", HealthRollup: "Critical" }, "Critical"],
  [{ Health: "strange" }, undefined],
  [undefined, undefined],
])("health %j of the system is passed on as %s", async (status, health) => {
  system["Status"] = status;
  expect(await driver.power(bmc.host(), signal)).toEqual({
    type: "done",
    value: { on: expect.any(Boolean), health },
  });
});

test("a redirect to another server is refused: credentials stay here", async () => {
  const thief = await FakeRedfish.start();
  bmc.on(`GET ${SYSTEM}`, (): Reply => ({ status: 307, headers: { location: `${thief.origin}${SYSTEM}` } }));
  expect(await driver.power(bmc.host(), signal)).toMatchObject({
    type: "failed",
    message: expect.stringMatching(/redirects to another server, which is refused/),
  });
  expect(thief.seen).toEqual([]);
  await thief.close();
});

test("a server that insists on If-Match gets the ETag; one that knows no Continuous gets Once", async () => {
  bmc.on(`GET ${SYSTEM}`, (): Reply => ({ body: system, headers: { etag: 'W/"7"' } }));
  const patched: unknown[] = [];
  bmc.on(`PATCH ${SYSTEM}`, ({ body, headers }: Seen): Reply => {
    if (headers["if-match"] !== 'W/"7"') return { status: 428 };
    patched.push(body);
    return JSON.stringify(body).includes("Continuous")
      ? { status: 400, body: { error: { message: "no" } } }
      : { status: 200, body: {} };
  });
  expect(await end(() => driver.provision(bmc.host(), REQUEST, signal))).toMatchObject({ type: "done" });
  expect(patched.at(-1)).toEqual({
    Boot: { BootSourceOverrideTarget: "Cd", BootSourceOverrideEnabled: "Once", BootSourceOverrideMode: "UEFI" },
  });
});

test("does not set a boot mode on a system that shows none", async () => {
  system["Boot"] = {
    BootSourceOverrideTarget: "None",
    "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "UsbCd"],
  };
  await end(() => driver.provision(bmc.host(), REQUEST, signal));
  expect(bmc.seen.find(({ method }) => method === "PATCH")?.body).toEqual({
    Boot: { BootSourceOverrideTarget: "UsbCd", BootSourceOverrideEnabled: "Continuous" },
  });
});

test("an insert that becomes a task is waited for; a failed task is reported with the meaning of its message", async () => {
  let polls = 0;
  bmc.on(
    `POST ${MEDIA}/1/insert`,
    (): Reply => ({ status: 202, headers: { location: "/redfish/v1/TaskService/Tasks/9" } }),
  );
  bmc.on("GET /redfish/v1/TaskService/Tasks/9", (): Reply => {
    polls++;
    if (polls < 3) return { status: 202, body: { TaskState: "Running" } };
    return {
      body: {
        TaskState: "Exception",
        Messages: [{ MessageId: "Base.1.8.CouldNotEstablishConnection", Message: "No way to 10.0.0.1" }],
      },
    };
  });
  expect(await end(() => driver.provision(bmc.host(), REQUEST, signal))).toMatchObject({
    type: "failed",
    message: expect.stringMatching(
      /insert: its task finished with Exception \(CouldNotEstablishConnection: it cannot connect to the address of the medium/,
    ),
  });
  expect(polls).toBe(3);
});

test("translates known messages of the management controller, and passes on no others", async () => {
  const info = [
    { MessageId: "Base.1.8.InternalError", Message: "canary: root:x:0:0" },
    { MessageId: "Base.1.8.LicenseRequired", Message: "canary" },
    { MessageId: "canary.constructor", Message: "canary" },
  ];
  for (const id of ["1", "2"])
    bmc.on(
      `POST ${MEDIA}/${id}/insert`,
      (): Reply => ({
        status: 500,
        body: { error: { code: "Base.1.8.GeneralError", message: "canary", "@Message.ExtendedInfo": info } },
      }),
    );
  const result = await end(() => driver.provision(bmc.host(), REQUEST, signal));
  expect(result).toMatchObject({
    type: "failed",
    message: `POST ${MEDIA}/1/insert: the management controller answered 500 (InternalError: internal error; LicenseRequired: a license is required)`,
  });
  expect(JSON.stringify(result)).not.toContain("canary");
  expect(JSON.stringify(result)).not.toContain("s3cret");
});

test.each(["a refusal", "a task"])(
  "%s that repeats where the medium is published does not give that away",
  async (how) => {
    const token = "a-B_".repeat(11).slice(0, 43);
    const info = `unable to mount http://10.0.0.1:8080/media/${token}/media.iso`;
    const cut = `http://10.0.0.1:8080/media/${token.slice(0, 30)}`;
    const error = { "@Message.ExtendedInfo": [{ Message: info }, { Message: cut }] };
    bmc.on("GET /tasks/1", { TaskState: "Exception", Messages: [{ Message: info }, { Message: cut }] });
    const reply: Reply =
      how === "a task" ? { status: 202, headers: { location: "/tasks/1" } } : { status: 400, body: { error } };
    for (const id of ["1", "2"]) bmc.on(`POST ${MEDIA}/${id}/insert`, (): Reply => reply);
    const result = await end(() => driver.provision(bmc.host(), REQUEST, signal));
    expect(result).toMatchObject({ type: "failed" });
    expect(JSON.stringify(result)).not.toContain(token.slice(0, 16));
  },
);

test("soft and hard power off use supported reset types; a reset without effect is awaited and requested once", async () => {
  system["PowerState"] = "On";
  bmc.on(`POST ${SYSTEM}/reset`, (): Reply => ({ status: 204 }));
  for (let count = 0; count < 5; count++)
    expect(await driver.powerOff(bmc.host(), "soft", signal)).toMatchObject({
      type: "working",
      what: "Reset GracefulShutdown was accepted, but PowerState is still On",
    });
  await driver.powerOff(bmc.host(), "hard", signal);
  expect(bmc.seen.filter(({ method }) => method === "POST").map(({ body }) => body["ResetType"])).toEqual([
    "GracefulShutdown",
    "ForceOff",
  ]);
});

test("inspection reads processors, memory, interfaces and disks", async () => {
  Object.assign(system, {
    Manufacturer: "ACME",
    Model: "R1",
    SerialNumber: "S1",
    BiosVersion: "2.3",
    HostName: "old",
    MemorySummary: { TotalSystemMemoryGiB: 64 },
    ProcessorSummary: { Count: 2, Model: "Fast" },
    Processors: { "@odata.id": `${SYSTEM}/Processors` },
    EthernetInterfaces: { "@odata.id": `${SYSTEM}/EthernetInterfaces` },
    Storage: { "@odata.id": `${SYSTEM}/Storage` },
  });
  const list = (path: string, ...bodies: object[]): void => {
    bmc.on(`GET ${path}`, { Members: bodies.map((_, index) => ({ "@odata.id": `${path}/${index}` })) });
    bodies.forEach((body, index) => bmc.on(`GET ${path}/${index}`, body));
  };
  list(
    `${SYSTEM}/Processors`,
    { ProcessorType: "CPU", InstructionSet: "x86-64", Model: "Fast 9", MaxSpeedMHz: 3000, TotalThreads: 32 },
    { ProcessorType: "GPU" },
  );
  list(
    `${SYSTEM}/EthernetInterfaces`,
    { Id: "NIC.1", MACAddress: "AA:BB:CC:00:00:01", SpeedMbps: 25000, IPv4Addresses: [{ Address: "10.0.0.9" }] },
    { Id: "NIC.2" },
  );
  list(`${SYSTEM}/Storage`, { Drives: [{ "@odata.id": "/drive" }] });
  bmc.on("GET /drive", {
    Name: "Disk 0",
    MediaType: "SSD",
    Protocol: "NVMe",
    CapacityBytes: 1e12,
    Manufacturer: "M",
    Model: "X",
    SerialNumber: "D1",
  });
  expect(await driver.inspect(bmc.host(), signal)).toEqual({
    type: "done",
    value: {
      systemVendor: { manufacturer: "ACME", productName: "R1", serialNumber: "S1" },
      firmware: { bios: { version: "2.3" } },
      ramMebibytes: 65536,
      cpu: { arch: "x86_64", model: "Fast 9", clockMegahertz: 3000, count: 32 },
      nics: [{ name: "NIC.1", mac: "aa:bb:cc:00:00:01", speedGbps: 25, ip: "10.0.0.9" }],
      storage: [
        {
          name: "Disk 0",
          type: "NVME",
          rotational: false,
          sizeBytes: 1e12,
          vendor: "M",
          model: "X",
          serialNumber: "D1",
        },
      ],
      hostname: "old",
    },
  });
});

test("never more than two requests are in flight at one management controller, whatever is asked of it", async () => {
  await Promise.all(Array.from({ length: 20 }, (_, index) => driver.power(bmc.host({ name: `h${index}` }), signal)));
  expect(bmc.peak).toBeLessThanOrEqual(2);
  expect(driver.inFlight.peakPerKey).toBe(2);
});

test("garbage, an endless body or a closed connection never throws", async () => {
  bmc.on(`GET ${SYSTEM}`, (): Reply => ({ body: "text" }));
  expect(await driver.power(bmc.host(), signal)).toMatchObject({ type: "failed" });
  bmc.on(
    `GET ${SYSTEM}`,
    (): Reply => ({
      body: { "@odata.id": SYSTEM, PowerState: 7, Actions: "none", Links: [], Boot: null, VirtualMedia: 3 },
    }),
  );
  expect(await driver.provision(bmc.host(), REQUEST, signal)).toMatchObject({ type: "failed" });
  expect(await driver.powerOff(bmc.host(), "soft", signal)).toMatchObject({
    type: "failed",
    message: expect.stringMatching(/has no action #ComputerSystem.Reset/),
  });
  bmc.on(`GET ${SYSTEM}`, (): Reply => ({ body: { "@odata.id": SYSTEM, x: "y".repeat(5 * 1024 * 1024) } }));
  expect(await driver.power(bmc.host(), signal)).toMatchObject({ type: "failed", access: "unreachable" });
});
