import { inspect } from "node:util";
import { seededRandom } from "@capstan/apimachinery";
import { Cluster, KubeadmConfig, KubeadmControlPlane, Secret } from "@capstan/capi";
import { createCertificateAuthority } from "@capstan/pki";
import type { Logger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { causesOf } from "./testing/why.ts";
import { NAMESPACE, World } from "./testing/world.ts";

const KEY = { namespace: NAMESPACE, name: "c1" };
const MINUTE_MS = 60_000;
let world: World;

beforeEach(async () => {
  world = await World.start();
});
afterEach(() => world.close());

async function running(replicas: number): Promise<void> {
  await world.addCluster();
  await world.addPlane({ replicas });
  await world.ready(replicas);
}

/** Writes of the controllers in so many minutes. */
async function writesIn(minutes: number): Promise<number> {
  const before = world.plane.requests.length;
  await world.plane.settle(minutes * MINUTE_MS);
  return world.plane.requests.length - before;
}

async function authority(notBeforeMs: number, validMs: number): Promise<{ crt: string; key: string }> {
  const made = await createCertificateAuthority({
    commonName: "kubernetes",
    algorithm: "ECDSA-P256",
    notBeforeMs,
    validMs,
    random: seededRandom(1),
  });
  return { crt: made.certPem, key: made.keyPem };
}

async function bring(name: string, { crt, key }: { crt: string; key: string }): Promise<void> {
  const data = { "tls.crt": Buffer.from(crt).toString("base64"), "tls.key": Buffer.from(key).toString("base64") };
  await world.user.create({ apiVersion: "v1", kind: "Secret", metadata: { namespace: NAMESPACE, name }, data });
}

test("two control planes for one Cluster: the one that the Cluster does not name creates nothing", async () => {
  await world.addCluster();
  const cluster = await world.cluster();
  const owner = { apiVersion: Cluster.apiVersion, kind: "Cluster", name: "c1", uid: cluster.metadata.uid ?? "" };
  await world.addPlane({}, { name: "c2", ownerReferences: [owner] });
  await world.plane.settle(MINUTE_MS);
  expect(await world.machines()).toEqual([]);
  const other = await world.user.get(KubeadmControlPlane, { ...KEY, name: "c2" });
  expect(JSON.stringify(other?.status?.conditions)).toContain("names another control plane in spec.controlPlaneRef");
  await world.addPlane();
  await world.ready(1);
  expect(await world.machines()).toHaveLength(1);
});

test("a silent endpoint: the condition has its address and what came back, and nothing is written meanwhile", async () => {
  world.side.mute = true;
  await world.addCluster();
  await world.addPlane();
  await world.until(async () => (await world.condition("Available")).includes("does not answer at 10.0.0.9:6443"));
  expect(await world.condition("Available")).toMatch(
    /connection refused\)\. Check that 10\.0\.0\.9:6443 leads to this Machine; for the next step, run: capstan why c1 -n default$/,
  );
  expect(await writesIn(60)).toBeLessThan(5);
  world.side.mute = false;
  await world.ready(1);
});

test("an endpoint that is dead under a running control plane: repairs go on at the Machines, and it is never called available", async () => {
  await running(3);
  world.side.endpointDown = "no route to host";
  const [machine] = await world.machines();
  if (machine === undefined) throw new Error("no machine");
  await world.failHealthCheck(machine);
  await world.until(async () => (await world.condition("Available")).startsWith("False EndpointDown"));
  expect(await world.condition("Available")).toBe(
    "False EndpointDown: The API answers at the Machines of the control plane, but not at the endpoint 10.0.0.9:6443: no route to host. Repair the load balancer or the static pod that holds the virtual IP; for what the Machines report, run: capstan describe cluster c1 -n default",
  );
  await world.until(
    async () => !(await world.machines()).some(({ metadata }) => metadata.uid === machine.metadata.uid),
  );
  expect(await writesIn(60)).toBeLessThan(60);
  world.side.endpointDown = undefined;
  await world.ready(3);
});

test("an authority that expired: the Secret, the time and the cure are named", async () => {
  const nowMs = world.plane.clock.now();
  await bring("c1-ca", await authority(nowMs - 2 * 86_400_000, 86_400_000));
  await world.addCluster();
  await world.addPlane();
  await world.until(async () => (await world.condition("CertificatesAvailable")).includes("the CA expired at"));
  expect(await world.condition("Available")).toMatch(
    /Secret c1-ca: the CA expired at .*set the clock right, or bring a new CA/,
  );
  expect(await world.machines()).toEqual([]);
  expect(await writesIn(60)).toBeLessThan(5);
});

test("a clock that is behind the authority: the clock is named", async () => {
  await bring("c1-ca", await authority(world.plane.clock.now() + 86_400_000, 86_400_000));
  await world.addCluster();
  await world.addPlane();
  await world.until(async () => (await world.condition("CertificatesAvailable")).includes("is not valid before"));
  expect(await world.condition("CertificatesAvailable")).toContain("timedatectl set-ntp true");
});

test("an authority that is deleted from a running cluster: none is made up, no Machine joins, and the Secret is named", async () => {
  await running(1);
  await world.user.delete({ kind: Secret, ...KEY, name: "c1-ca" });
  await world.patch({ replicas: 3 });
  await world.until(async () => (await world.condition("CertificatesAvailable")).startsWith("False"));
  expect(await world.condition("CertificatesAvailable")).toMatch(/c1-ca.*(restore|backup)/s);
  await world.plane.settle(5 * MINUTE_MS);
  expect(await world.machines()).toHaveLength(1);
  expect(await world.user.get(Secret, { ...KEY, name: "c1-ca" })).toBeUndefined();
});

test("a member removed by hand: no Machine is created or deleted, and the condition names the Machine", async () => {
  await running(3);
  const [machine] = await world.machines();
  const node = machine?.status?.nodeRef?.name ?? "";
  world.side.broken.add(node);
  world.side.members.splice(
    world.side.members.findIndex((member) => member.node === node),
    1,
  );
  await world.until(async () => (await world.condition("EtcdClusterHealthy")).startsWith("False"));
  expect(await world.condition("EtcdClusterHealthy")).toContain(machine?.metadata.name);
  await world.plane.settle(10 * MINUTE_MS);
  expect(await world.machines()).toHaveLength(3);
  // A health check replaces it.
  if (machine !== undefined) await world.failHealthCheck(machine);
  await world.until(
    async () => !(await world.machines()).some(({ metadata }) => metadata.uid === machine?.metadata.uid),
  );
  await world.ready(3);
  expect(world.side.members).toHaveLength(3);
});

test("a KubeadmConfig or a template that is deleted under a running control plane replaces no Machine", async () => {
  await running(3);
  const before = (await world.machines()).map(({ metadata }) => metadata.uid);
  for (const config of await world.list(KubeadmConfig)) await world.user.delete(config);
  await world.plane.settle(5 * MINUTE_MS);
  expect((await world.machines()).map(({ metadata }) => metadata.uid)).toEqual(before);
});

/** A logger that keeps all lines, as they are before a real one removes secrets. */
function keepingLogger(lines: string[]): Logger {
  const keep = (message: string, fields?: object): void => void lines.push(inspect([message, fields], { depth: 8 }));
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep, with: () => logger };
  return logger;
}

test("no key or token is in a condition, an event, a log line or what `why` prints", async () => {
  const lines: string[] = [];
  await world.close();
  world = await World.start({ log: keepingLogger(lines) });
  const explained: unknown[] = [];
  const look = async (): Promise<void> => {
    explained.push(
      await causesOf(world),
      (await world.get()).status,
      (await world.machines()).map((each) => each.status),
    );
  };
  world.side.mute = true;
  await world.addCluster();
  await world.addPlane({ replicas: 3 });
  await world.until(async () => (await world.condition("Available")).includes("does not answer"));
  await look();
  world.side.mute = false;
  await world.ready(3);
  world.side.endpointDown = "no route to host";
  world.plane.setReachable(NAMESPACE, "c1", false);
  const [machine] = await world.machines();
  world.side.broken.add(machine?.status?.nodeRef?.name ?? "");
  await world.until(async () => (await world.condition("Available")).startsWith("False EndpointDown"));
  await world.plane.settle(5 * MINUTE_MS);
  await look();
  world.side.endpointDown = undefined;
  world.plane.setReachable(NAMESPACE, "c1", true);
  world.side.broken.clear();
  await world.plane.settle(MINUTE_MS);
  // Controllers log what fails.
  world.side.keepSpace = () => Promise.reject(new Error("the API answered with 500"));
  await world.until(() => Promise.resolve(lines.some((line) => line.includes("answered with 500"))), "a log line");
  Reflect.deleteProperty(world.side, "keepSpace");
  await world.patch({ version: "v1.37.0" });
  await world.ready(3);
  await look();
  const secrets = (await world.list(Secret)).flatMap(({ data }) => Object.entries(data ?? {}));
  const keys = secrets.filter(([name]) => /key|value|token/.test(name)).map(([, value]) => value);
  expect(keys.length).toBeGreaterThan(0);
  expect(lines.length).toBeGreaterThan(0);
  expect(explained.flat().length).toBeGreaterThan(10);
  const said = JSON.stringify([
    explained,
    (await world.cluster()).status,
    world.plane.events,
    world.plane.failures.map(String),
    lines,
  ]);
  expect(said).not.toMatch(/PRIVATE KEY|[a-z0-9]{6}\.[a-z0-9]{16}\b/);
  for (const value of keys) {
    expect(said).not.toContain(value.slice(0, 64));
    const lines = Buffer.from(value, "base64")
      .toString("latin1")
      .split("\n")
      .filter((line) => line.length >= 40);
    for (const line of lines) expect(said).not.toContain(line);
  }
});
