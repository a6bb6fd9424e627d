import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Clock, systemClock, systemRandom } from "@capstan/apimachinery";
import { ProcessPlacement } from "@capstan/controlplane-hosted";
import { makePlan, type PlacementWorld } from "@capstan/controlplane-hosted/contract-suite";
import { buildKubeconfig, issueCertificate } from "@capstan/pki";
import { PortAllocator, ProcessWorkloads } from "@capstan/workloads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kubernetesBin, mustRun } from "../real-kubernetes/index.ts";
import { askAgainAndAgain, servedCertificate } from "./ask.ts";
import { eventually, sleep, timed } from "./harness/index.ts";

/**
 * Leaf certificates are renewed under real components. They were made nine months ago, by the clock of the placement that made them; the
 * next pass goes by the real one. With `CAPSTAN_RENEWAL_TO_THE_END=1` the old ones end seven minutes after the start and that is waited
 * for: clients read their files again every five minutes.
 */
const DAY_MS = 24 * 3600_000;
const toTheEnd = process.env["CAPSTAN_RENEWAL_TO_THE_END"] === "1";
const AGE_MS = toTheEnd ? 365 * DAY_MS - 7 * 60_000 : 275 * DAY_MS;
const OWNER = "default/c1";
const COMPONENTS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];

const aged: Clock = { ...systemClock, now: () => systemClock.now() - AGE_MS };
const root = mkdtempSync(join(tmpdir(), "capstan-renewal-"));
const workloads = new ProcessWorkloads({ root, clock: systemClock });
let plan: Awaited<ReturnType<typeof makePlan>>;
let kubeconfig: string;

function placementBy(clock: Clock): ProcessPlacement {
  return new ProcessPlacement({
    root,
    workloads,
    ports: new PortAllocator(root),
    binaries: { find: () => Promise.resolve({ dir: kubernetesBin() }) },
    defaultAddress: "127.0.0.1",
    clock,
    random: systemRandom,
  });
}

const file = (...path: string[]): string => readFileSync(join(root, OWNER, ...path), "utf8");
const kubectl = (...args: string[]): Promise<string> =>
  mustRun(join(kubernetesBin(), "kubectl"), ["--kubeconfig", kubeconfig, ...args]);

/** When the certificate that is served on a port expires. */
const servedUntil = async (port: number, keys: { cert: string; key: string }): Promise<number> =>
  Date.parse((await servedCertificate("127.0.0.1", port, keys)).valid_to);

async function pids(): Promise<Record<string, number | undefined>> {
  const states = await workloads.list(OWNER);
  return Object.fromEntries(states.map(({ id, pid }) => [id.name, pid]));
}

beforeAll(async () => {
  const placement = placementBy(aged);
  plan = await makePlan({ placement, clock: aged, spec: {} } as unknown as PlacementWorld, OWNER);
  await timed("ready", () =>
    eventually("ready", async () => {
      const { apiReady, components } = await placement.ensure(plan);
      return apiReady && components.length === COMPONENTS.length && components.every(({ ready }) => ready);
    }),
  );
  const { cluster } = plan.authorities;
  const usages: ["client"] = ["client"];
  const who = { commonName: "admin", organizations: ["system:masters"], usages };
  const leaf = await issueCertificate(cluster, {
    ...who,
    nowMs: systemClock.now(),
    validMs: DAY_MS,
    random: systemRandom,
  });
  kubeconfig = join(root, "admin.conf");
  const text = buildKubeconfig({
    server: `https://127.0.0.1:${plan.endpoint.port}`,
    caPem: cluster.certPem,
    clusterName: "c1",
    userName: "admin",
    contextName: "c1",
    clientCertPem: leaf.certPem,
    clientKeyPem: leaf.keyPem,
  });
  writeFileSync(kubeconfig, text, { mode: 0o600 });
});

afterAll(async () => {
  await workloads.stopAll(() => 0);
  rmSync(root, { recursive: true, force: true });
});

/** kube-controller-manager makes an account for a new namespace, and kube-scheduler looks at a new pod. */
async function everybodyWorks(name: string): Promise<void> {
  await kubectl("create", "namespace", name);
  await eventually("an account", () => kubectl("-n", name, "get", "serviceaccount", "default", "-o", "name"));
  const container = { name: "x", image: "x" };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers: [container] } };
  const path = join(root, "pod.json");
  writeFileSync(path, JSON.stringify(pod));
  await kubectl("-n", name, "create", "-f", path);
  await eventually("a look at the pod", async () => {
    const conditions = await kubectl("-n", name, "get", "pod", name, "-o", "jsonpath={.status.conditions}");
    return conditions.includes("no nodes available");
  });
}

test("certificates are renewed without a restart and without a request refused; servers show the new ones", async () => {
  await everybodyWorks("before");
  const { port } = plan.endpoint;
  const etcdPort = (JSON.parse(file("ports.json")) as Record<string, number>)["etcdClient0"] ?? 0;
  const keys = () => ({
    cert: file("kube-apiserver/files/apiserver-etcd-client.crt"),
    key: file("kube-apiserver/files/apiserver-etcd-client.key"),
  });
  const before = await pids();
  const oldKeys = keys();
  const soon = systemClock.now() + 200 * DAY_MS;
  for (const each of [port, etcdPort]) expect(await servedUntil(each, keys())).toBeLessThan(soon);
  const stop = askAgainAndAgain(`https://127.0.0.1:${port}`, plan.authorities.cluster.certPem);
  const placement = placementBy(systemClock);
  const renewed = await timed("renewed", () => placement.ensure(plan));
  expect(renewed.upgrade, "nothing is replaced for it").toBeUndefined();
  expect(keys().cert).not.toBe(oldKeys.cert);
  for (const [name, program] of [
    ["controller-manager", "kube-controller-manager"],
    ["scheduler", "kube-scheduler"],
  ] as const)
    expect(file(program, "files", `${name}.crt`)).toContain("BEGIN CERTIFICATE");
  for (const each of [port, etcdPort])
    await timed(`port ${each} shows the new one`, () =>
      eventually("the new certificate", async () => (await servedUntil(each, keys())) > soon, { timeout: 90_000 }),
    );
  await everybodyWorks("after");
  if (toTheEnd) {
    await sleep(8 * 60_000);
    await everybodyWorks("much-later");
  }
  expect(await pids()).toEqual(before);
  expect((await stop()).failures).toEqual([]);
});
