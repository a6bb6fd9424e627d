import { createPrivateKey, X509Certificate } from "node:crypto";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { ConfigMap, Secret, secretText } from "@capstan/capi";
import { clusterNetwork, trusted } from "@capstan/controlplane";
import { type KeyAlgorithm, parseCertificates } from "@capstan/pki";
import { Client } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { certificateSpecs } from "./certificates.ts";
import { LeafStore, leafFile } from "./placement/leaf-store.ts";
import { FakePlacement } from "./testing/fake-placement.ts";
import { HostedPlane } from "./testing/hosted-plane.ts";

/** Keys over the years: what is renewed automatically, and what a user rotates step by step. */
const DAY_MS = 24 * 3600_000;
let hosted: HostedPlane;
let clock: YearsClock;

/** Virtual time in which years pass at once, as after a suspend, and that records requested wake-ups. */
class YearsClock extends VirtualClock {
  readonly alarms: number[] = [];
  #skipped = 0;

  override now(): number {
    return super.now() + this.#skipped;
  }

  override after(ms: number, fire: () => void): () => void {
    this.alarms.push(this.now() + ms);
    return super.after(ms, fire);
  }

  skip(ms: number): void {
    this.#skipped += ms;
  }

  /** Whether a wake-up was requested within the day before this time. */
  wakesAt(ms: number): boolean {
    return this.alarms.some((at) => at > ms - DAY_MS && at <= ms);
  }
}

beforeEach(async () => {
  clock = new YearsClock();
  hosted = await HostedPlane.start(clock);
});

afterEach(async () => {
  await hosted.close();
});

const secret = (name: string): Promise<Secret | undefined> =>
  hosted.plane.user.get(Secret, { namespace: "default", name });

/** The admin kubeconfig: its CAs and its certificate. */
async function kubeconfig(): Promise<{ ca: string; client: X509Certificate; key: string }> {
  const text = secretText(await secret("c1-kubeconfig"), "value") ?? "";
  const document = parse(text) as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[];
  };
  const decode = (value: string | undefined): string => Buffer.from(value ?? "", "base64").toString("utf8");
  return {
    ca: decode(document.clusters[0]?.cluster["certificate-authority-data"]),
    client: new X509Certificate(decode(document.users[0]?.user["client-certificate-data"])),
    key: decode(document.users[0]?.user["client-key-data"]),
  };
}

const rotate = async (phase: string, authorities?: string[]): Promise<void> => {
  const rotation = authorities === undefined ? { phase } : { phase, authorities };
  await hosted.plane.user.patch(await hosted.get(), { spec: { certificates: { rotation } } });
};
const authorities = () => hosted.placement.plans.at(-1)?.authorities;

test("renews the kubeconfig at half of its lifetime, requeued for that time and not earlier", async () => {
  await hosted.create();
  await hosted.ready();
  const begun = clock.now();
  const first = await kubeconfig();
  // The progress deadline of the start requeues it first.
  await hosted.plane.settle(600_000);
  expect(clock.wakesAt(begun + 182.5 * DAY_MS)).toBe(true);
  clock.skip(180 * DAY_MS);
  hosted.placement.report(FakePlacement.ready());
  await hosted.plane.settle(50);
  expect((await kubeconfig()).client.serialNumber).toBe(first.client.serialNumber);
  clock.skip(3 * DAY_MS);
  hosted.placement.report(FakePlacement.ready());
  await hosted.eventually(async () =>
    expect((await kubeconfig()).client.serialNumber).not.toBe(first.client.serialNumber),
  );
  const second = await kubeconfig();
  expect(second.ca).toBe(first.ca);
  expect(Date.parse(second.client.validTo)).toBeGreaterThan(clock.now() + 364 * DAY_MS);
});

test.each([
  ["ECDSA P-256 by default", undefined, "ec", "prime256v1"],
  ["RSA on request", "RSA-2048", "rsa", undefined],
])(
  "keys are %s: of every CA, of service accounts, of every leaf certificate and of the administrator",
  async (_what, algorithm, type, curve) => {
    const certificates = algorithm === undefined ? {} : { encryptionAlgorithm: algorithm };
    await hosted.create({ certificates });
    await hosted.ready();
    const made = authorities() ?? expect.fail("no plan");
    const leaves = new LeafStore(leafFile(join(hosted.backupDir, "leaves")), clock, seededRandom(1));
    const input = { version: "v1.34.4", network: clusterNetwork(undefined), endpointHost: "10.0.0.1" };
    const specs = certificateSpecs({ ...input, extraSANs: [], etcdSANs: [] });
    const issued = await leaves.ensure(specs, made, (algorithm ?? "ECDSA-P256") as KeyAlgorithm);
    const keys = [
      ...["c1-ca", "c1-etcd", "c1-proxy", "c1-sa"].map(async (name) => secretText(await secret(name), "tls.key") ?? ""),
      ...Object.values(issued).map(({ keyPem }) => Promise.resolve(keyPem)),
      kubeconfig().then(({ key }) => key),
    ];
    expect(keys.length).toBe(4 + specs.length + 1);
    for (const pem of await Promise.all(keys)) {
      const key = createPrivateKey(pem);
      expect(key.asymmetricKeyType).toBe(type);
      expect(key.asymmetricKeyDetails?.namedCurve).toBe(curve);
    }
  },
);

test("reports an authority that expires within half a year", async () => {
  await hosted.create();
  await hosted.ready();
  await hosted.told("AuthoritiesCurrent", /^True/);
  clock.skip(3471 * DAY_MS);
  hosted.placement.report(FakePlacement.ready());
  await hosted.told("AuthoritiesCurrent", /^False ExpiresSoon: .*phase to Trust/);
});

test("rotates in three steps: trusts both CAs, signs with the new one, removes the old one; reports each step", async () => {
  await hosted.create();
  await hosted.ready();
  const before = await kubeconfig();
  const old = authorities();

  await rotate("Trust");
  await hosted.told("AuthoritiesCurrent", /^False NewTrusted: .*Cluster, Etcd, FrontProxy, ServiceAccount.*every node/);
  await hosted.eventually(async () => expect(authorities()?.nodeSigner).toBeDefined());
  expect(authorities()?.cluster, "the old one still signs for the control plane").toEqual(old?.cluster);
  await hosted.eventually(async () => expect(parseCertificates((await kubeconfig()).ca)).toHaveLength(2));
  const inside = new Client(hosted.workload.admin(), { fieldManager: "test", clock: hosted.plane.clock });
  const info = await inside.get(ConfigMap, { namespace: "kube-public", name: "cluster-info" });
  expect(info?.data?.["kubeconfig"], "joining nodes learn both").toContain(
    Buffer.from((await kubeconfig()).ca).toString("base64"),
  );
  const bundle = (await kubeconfig()).ca;

  await rotate("Issue");
  await hosted.told("AuthoritiesCurrent", /^False NewInUse: .*phase to Retire/);
  await hosted.eventually(async () => expect(authorities()?.cluster).not.toEqual(old?.cluster));
  const now = authorities();
  if (now === undefined || old === undefined) throw new Error("no plan");
  for (const key of ["cluster", "etcd", "frontProxy", "serviceAccount"] as const)
    expect(trusted(now, key), key).toContain(trusted(old, key).trim());
  await hosted.eventually(async () => {
    const { ca, client } = await kubeconfig();
    expect(ca, "clients that trust the bundle need nothing new").toBe(bundle);
    expect(client.verify(new X509Certificate(now.cluster.certPem).publicKey)).toBe(true);
  });
  expect(before.client.verify(new X509Certificate(now.cluster.certPem).publicKey)).toBe(false);

  await rotate("Retire");
  await hosted.told("AuthoritiesCurrent", /^True/);
  await hosted.eventually(async () => expect((await kubeconfig()).ca).toBe(now.cluster.certPem));
  expect(authorities()?.also).toBeUndefined();
  expect(Object.keys((await secret("c1-ca"))?.data ?? {}).toSorted()).toEqual(["tls.crt", "tls.key"]);

  await rotate("Trust");
  await hosted.told("AuthoritiesCurrent", /^False NewTrusted/);
});

test("rejects a step out of order without a change; one authority can be rotated alone", async () => {
  await hosted.create();
  await hosted.ready();
  const before = (await secret("c1-etcd"))?.data;
  await rotate("Issue", ["Etcd"]);
  await hosted.told("AuthoritiesCurrent", /^False InvalidRotation: .*Etcd: no new CA is trusted yet/);
  expect((await secret("c1-etcd"))?.data).toEqual(before);
  await rotate("Trust", ["Etcd"]);
  await hosted.told("AuthoritiesCurrent", /^False NewTrusted: .*\(Etcd\)\. .*nodes are not affected/);
  expect(Object.keys((await secret("c1-ca"))?.data ?? {}).toSorted()).toEqual(["tls.crt", "tls.key"]);
  await rotate("Retire", ["Etcd"]);
  await hosted.told("AuthoritiesCurrent", /^False InvalidRotation: .*Etcd: the old CA still signs/);
});
