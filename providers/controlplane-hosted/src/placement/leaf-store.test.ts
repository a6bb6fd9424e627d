import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { type Authorities, clusterNetwork } from "@capstan/controlplane";
import {
  type CertificateAndKey,
  createCertificateAuthority,
  createServiceAccountKey,
  parseCertificate,
} from "@capstan/pki";
import { afterEach, beforeEach, expect, test } from "vitest";
import { certificateSpecs } from "../certificates.ts";
import { LeafStore, leafFile } from "./leaf-store.ts";

const DAY_MS = 24 * 3600_000;
const random = seededRandom(1);
const clock = new VirtualClock();
let dir: string;
let authorities: Authorities;
let store: LeafStore;

const ca = (commonName: string): Promise<CertificateAndKey> =>
  createCertificateAuthority({ commonName, notBeforeMs: clock.now(), validMs: 3650 * DAY_MS, random });
const specs = (certSANs: string[] = []) =>
  certificateSpecs({
    version: "v1.34.4",
    network: clusterNetwork(undefined),
    endpointHost: "10.0.0.1",
    extraSANs: certSANs,
    etcdSANs: [],
  });
const ensure = (certSANs?: string[]): Promise<Record<string, CertificateAndKey>> =>
  store.ensure(specs(certSANs), authorities, "ECDSA-P256");

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "capstan-leaves-"));
  authorities = {
    cluster: await ca("kubernetes"),
    etcd: await ca("etcd-ca"),
    frontProxy: await ca("front-proxy-ca"),
    serviceAccount: await createServiceAccountKey("ECDSA-P256"),
  };
  store = new LeafStore(leafFile(dir), clock, random);
});

afterEach(() => rm(dir, { recursive: true, force: true }));

test("leaf certificates are valid for a year, and all are renewed when a third of that is left", async () => {
  const first = await ensure();
  expect(await ensure()).toEqual(first);
  expect(
    await new LeafStore(leafFile(dir), clock, random).ensure(specs(), authorities, "ECDSA-P256"),
    "after a restart",
  ).toEqual(first);
  const dueMs = store.renewalMs();
  expect((dueMs - clock.now()) / DAY_MS).toBeCloseTo(243.3, 0);
  await clock.advance(dueMs - clock.now() - 1000);
  expect(await ensure()).toEqual(first);
  await clock.advance(2000);
  const second = await ensure();
  for (const [name, leaf] of Object.entries(second)) {
    expect(leaf.certPem, name).not.toBe(first[name]?.certPem);
    expect(parseCertificate(leaf.certPem).notAfterMs, name).toBeGreaterThan(clock.now() + 364 * DAY_MS);
  }
  expect(store.renewalMs()).toBeGreaterThan(clock.now() + 240 * DAY_MS);
  expect((await stat(join(dir, "certificates.json"))).mode & 0o777).toBe(0o600);
});

test("another name or CA renews only the certificates that it affects", async () => {
  const first = await ensure();
  const named = await ensure(["api.example.org"]);
  const changed = (now: typeof first, before: typeof first): string[] =>
    Object.keys(now).filter((name) => now[name]?.certPem !== before[name]?.certPem);
  expect(changed(named, first)).toEqual(["apiserver"]);
  expect(parseCertificate(named["apiserver"]?.certPem ?? "").dnsNames).toContain("api.example.org");
  authorities = { ...authorities, etcd: await ca("etcd-ca") };
  expect(changed(await ensure(["api.example.org"]), named).toSorted()).toEqual([
    "apiserver-etcd-client",
    "etcd/peer",
    "etcd/server",
  ]);
});

test("issues new certificates for those issued while the clock was ahead", async () => {
  const ahead = new VirtualClock(clock.now() + 30 * DAY_MS);
  const future = await new LeafStore(leafFile(dir), ahead, random).ensure(specs(), authorities, "ECDSA-P256");
  const now = await ensure();
  for (const [name, leaf] of Object.entries(now)) {
    expect(leaf.certPem, name).not.toBe(future[name]?.certPem);
    expect(parseCertificate(leaf.certPem).notBeforeMs, name).toBeLessThanOrEqual(clock.now());
  }
});
