import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { Cluster, Secret } from "@capstan/capi";
import { createCertificateAuthority } from "@capstan/pki";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { FakePlacement } from "./testing/fake-placement.ts";
import { HostedPlane } from "./testing/hosted-plane.ts";

/** Wrong input of a user, a clock or another tenant: it is reported, and nothing is started. */
const DAY_MS = 24 * 3600_000;
let hosted: HostedPlane;

beforeEach(async () => {
  hosted = await HostedPlane.start();
});

afterEach(async () => {
  await hosted.close();
});

async function bringCa(notBeforeMs: number, validMs: number): Promise<void> {
  const { clock, user } = hosted.plane;
  const random = { bytes: (count: number) => new Uint8Array(count).fill(1) };
  const ca = await createCertificateAuthority({ commonName: "kubernetes", notBeforeMs, validMs, random });
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  await user.create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "default", name: "c1-ca" },
    data: { "tls.crt": encode(ca.certPem), "tls.key": encode(ca.keyPem) },
  } as Unstructured);
  expect(clock).toBeInstanceOf(VirtualClock);
}

test("clock skew: reports a CA that is not valid yet with both times, and starts nothing", async () => {
  await bringCa(hosted.plane.clock.now() + DAY_MS, 10 * DAY_MS);
  await hosted.create();
  await hosted.told(
    "Available",
    /^False CertificatesNotAvailable: Secret c1-ca: .*not valid before 2026-01-02.*clock says 2026-01-01/,
  );
  expect(hosted.placement.plans).toEqual([]);
});

test("clock skew: reports an expired CA with both times, and starts nothing", async () => {
  await bringCa(hosted.plane.clock.now() - 10 * DAY_MS, 5 * DAY_MS);
  await hosted.create();
  await hosted.told("Available", /^False CertificatesNotAvailable: Secret c1-ca: the CA expired at 2025-12-27/);
  expect(hosted.placement.plans).toEqual([]);
});

test("reports an unparsable CA, and starts nothing", async () => {
  await hosted.plane.user.create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "default", name: "c1-ca" },
    stringData: { "tls.crt": "nonsense", "tls.key": "nonsense" },
  } as Unstructured);
  await hosted.create();
  await hosted.told("Available", /^False CertificatesNotAvailable: Secret c1-ca: tls.crt cannot be read/);
});

test("reports a backup whose endpoint is not a host, and reserves nothing", async () => {
  const backup = "20260101T000000Z";
  const description = { authorities: { cluster: { certPem: "x" } }, endpoint: { host: "a\u2028 exec: b", port: 6443 } };
  await mkdir(join(hosted.backupDir, "default/c1", backup), { recursive: true });
  await writeFile(join(hosted.backupDir, "default/c1", backup, "control-plane.json"), JSON.stringify(description));
  await hosted.create({ etcd: { restoreFrom: { backup } } });
  await hosted.told("Available", /^False InvalidAddress: [^]*is neither an IP address nor a DNS name/);
  expect(hosted.placement.reserved).toEqual([]);
});

test.each(["../other/c1", "other/c1", "..", "C1"])(
  "rejects a backup of another namespace: %s",
  async (controlPlane) => {
    await mkdir(join(hosted.backupDir, "other/c1/20260101T000000Z"), { recursive: true });
    await writeFile(join(hosted.backupDir, "other/c1/20260101T000000Z/control-plane.json"), "{}");
    const spec = { etcd: { restoreFrom: { controlPlane, backup: "20260101T000000Z" } } };
    await expect(hosted.create(spec)).rejects.toThrow(/spec.etcd.restoreFrom.controlPlane/);
    expect(await hosted.plane.user.list(HostedControlPlane)).toMatchObject({ items: [] });
  },
);

test.each([
  [
    { apiServer: { files: [{ name: "a", contentFrom: { secret: { name: "../other/secrets/x", key: "k" } } }] } },
    "name",
  ],
  [{ etcd: { backup: { s3: { endpoint: "https://s3", bucket: "b", secretName: "other/x" } } } }, "secretName"],
  [{ hostCluster: { secretName: "other/x" } }, "secretName"],
])("rejects a Secret of another namespace: %j", async (spec, field) => {
  await expect(hosted.create(spec)).rejects.toThrow(field);
});

test("reads files only from Secrets of the same namespace", async () => {
  const { user } = hosted.plane;
  await user.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } } as Unstructured);
  await user.create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "other", name: "theirs" },
    stringData: { key: "secret of another tenant" },
  } as Unstructured);
  await hosted.create({
    apiServer: { files: [{ name: "a", contentFrom: { secret: { name: "theirs", key: "key" } } }] },
  });
  await hosted.told("Available", /^False FilesNotAvailable: .*Secret theirs has no key key/);
  expect(await user.get(Secret, { namespace: "default", name: "theirs" })).toBeUndefined();
  expect(await user.get(Cluster, { namespace: "default", name: "c1" })).toBeDefined();
});

test.each([
  ["InvalidVersion", { version: "v1.99.0" }, "use v1.28 to v1.37"],
  ["InvalidArgument", { apiServer: { extraArgs: [{ name: "etcd-servers", value: "x" }] } }, "remove it"],
  [
    "FilesNotAvailable",
    { apiServer: { files: [{ name: "a", contentFrom: { secret: { name: "gone", key: "k" } } }] } },
    "create it or correct the name",
  ],
])(
  "%s in a serving control plane: it keeps serving, is Available, and UpToDate says what to change",
  async (reason, spec, cure) => {
    await hosted.create();
    await hosted.ready();
    await hosted.told("Available", /^True/);
    await hosted.told("AuthoritiesCurrent", /^True/);
    const plans = hosted.placement.plans.length;
    await hosted.plane.user.patch(await hosted.get(), { spec });
    await hosted.told("UpToDate", new RegExp(`^False ${reason}: .*${cure}; the running configuration keeps serving$`));
    await hosted.told("Available", /^True/);
    await hosted.told("AuthoritiesCurrent", /^True/);
    expect((await hosted.get()).status).toMatchObject({ version: "v1.34.4", replicas: 1, readyReplicas: 1 });
    const later = hosted.placement.plans.slice(plans).map((plan) => plan.spec);
    expect(
      later.filter((each) => JSON.stringify(each).includes(JSON.stringify(Object.values(spec)[0]))),
      "tried",
    ).toEqual([]);
    // A serving control plane can still fail, and then that is reported.
    hosted.placement.report({ components: [], apiReady: false });
    await hosted.told("Available", new RegExp(`^False ${reason}: `));
    hosted.placement.report(FakePlacement.ready());
    await hosted.plane.user.patch(await hosted.get(), { spec: { version: "v1.34.4", apiServer: null } });
    await hosted.told("UpToDate", /^True/);
  },
);

test("backs up a serving control plane and renews its certificates while its spec is invalid", async () => {
  await hosted.create({ etcd: { backup: { schedule: "0 * * * *", keep: 3 } } });
  await hosted.ready();
  await hosted.told("UpToDate", /^True/);
  await hosted.plane.user.patch(await hosted.get(), { spec: { version: "v1.99.0" } });
  await hosted.told("UpToDate", /^False InvalidVersion/);
  const [taken, looked] = [hosted.placement.snapshots.length, hosted.placement.plans.length];
  const { clock } = hosted.plane;
  hosted.placement.report({ ...FakePlacement.ready(), recheckAtMs: clock.now() + 600_000 });
  await hosted.eventually(async () => expect(hosted.placement.plans.length).toBeGreaterThan(looked));
  const before = hosted.placement.plans.length;
  hosted.placement.state = FakePlacement.ready();
  await clock.advance(700_000);
  await hosted.eventually(async () => expect(hosted.placement.plans.length, "woken").toBeGreaterThan(before));
  expect(hosted.placement.plans.at(-1)?.version).toBe("v1.34.4");
  await clock.advance(3600_000);
  await hosted.eventually(async () => expect(hosted.placement.snapshots.length).toBeGreaterThan(taken));
  await hosted.told("BackedUp", /^True/);
  await hosted.told("UpToDate", /^False InvalidVersion/);
});

test("reports what a placement cannot do in addition to an invalid spec", async () => {
  await hosted.create();
  await hosted.ready();
  const problem = { reason: "BinariesMissing", message: "no kube-apiserver v1.34.4; run: capstan kubernetes install" };
  hosted.placement.report({ ...FakePlacement.ready(), problem });
  await hosted.told(
    "UpToDate",
    /^False BinariesMissing: .*run: capstan kubernetes install; the running configuration keeps/,
  );
  await hosted.told("Available", /^True/);
});
