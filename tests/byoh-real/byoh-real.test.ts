import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findCondition, isReason, systemClock, systemRandom, type Unstructured } from "@capstan/apimachinery";
import { Cluster, Machine, Secret } from "@capstan/capi";
import {
  type AgentOptions,
  ByoHost,
  byoHost,
  enrolmentLine,
  enrolmentRoles,
  enrolmentSecret,
  identify,
  newEnrolmentToken,
  requestCertificate,
  runAgent,
} from "@capstan/host-agent";
import { ByoMachine, byohProvider } from "@capstan/infra-byoh";
import { installKinds, KINDS, PROVIDERS, serveKinds } from "@capstan/manager";
import {
  Cache,
  Client,
  fixedCredentials,
  httpTransport,
  loadKubeconfig,
  silentLogger,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RealKubernetes, startKubeApiserver } from "../real-kubernetes/index.ts";

/** Bring-your-own hosts on a real kube-apiserver, with the real signer of certificates and real RBAC. Nothing is run on this machine. */
const clock = systemClock;
const random = systemRandom;
const ends: (() => Promise<unknown> | void)[] = [];
let real: RealKubernetes;
let admin: Client;
let dir: string;
let line: string;
let identity: Awaited<ReturnType<typeof identify>>;
const ran: string[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "capstan-byoh-real-"));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  real = await startKubeApiserver({ controllerManager: true });
  ends.unshift(() => real.stop());
  const transport = httpTransport(await loadKubeconfig({ clock, path: real.kubeconfigFile }), { clock });
  ends.unshift(() => transport.close());
  admin = new Client(transport, { fieldManager: "byoh-real", clock });
  const servedBy = await serveKinds({ listen: { host: "127.0.0.1", port: 0 } }, admin, KINDS, { clock, random });
  ends.unshift(() => servedBy.close());
  await installKinds(PROVIDERS, admin, clock, servedBy);
  const cache = new Cache(admin, { clock, random });
  const provider = byohProvider();
  provider.addIndexes(cache);
  const stop = new AbortController();
  const deps = { cache, clock, random, log: silentLogger, recorder: silentRecorder };
  const workload = {
    get: () => ({ state: "down" as const, since: 0, error: "" }),
    subscribe: () => () => undefined,
  };
  const running = startControllers(provider.controllers({ workload }), deps, stop.signal);
  ends.unshift(async () => {
    stop.abort(new Error("over"));
    await running.finished;
    await cache.stop();
  });
  for (const role of enrolmentRoles()) await admin.apply(role);
  line = await add("h1");
});

/** What `capstan host add` does; the line it prints. */
async function add(name: string): Promise<string> {
  const token = newEnrolmentToken(random);
  const added = await admin.apply(byoHost("default", name, {}));
  await admin.apply(enrolmentSecret(token, added, clock));
  return enrolmentLine({ server: real.server, caPem: real.caPem, namespace: "default", name, token });
}

afterAll(async () => {
  for (const end of ends) await end();
});

const host = () => admin.get(ByoHost, { namespace: "default", name: "h1" });

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 45_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`waited in vain for: ${what}: ${JSON.stringify(await host())}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const asHost = async (
  use: (client: Client) => Promise<unknown>,
  as: { certPem: string; keyPem: string } = identity,
): Promise<"done" | "refused"> => {
  const transport = httpTransport(
    { server: real.server, tls: { caPem: real.caPem }, credentials: fixedCredentials(as) },
    { clock },
  );
  try {
    await use(new Client(transport, { fieldManager: "thief", clock }));
    return "done";
  } catch (error) {
    if (isReason(error, "Forbidden")) return "refused";
    throw error;
  } finally {
    await transport.close();
  }
};
const readsSecret = (name: string) => asHost((client) => client.get(Secret, { namespace: "default", name }));

test("a line enrols a host once: CSR, strict approval, a certificate of the real signer, renewal by it", async () => {
  const deps = { clock, random, stateDir: join(dir, "state") };
  identity = await identify({ line }, deps, () => undefined);
  expect(identity.certPem).toContain("BEGIN CERTIFICATE");
  // Started again with the same line, it stays who it is.
  expect((await identify({ line }, deps, () => undefined)).certPem).toBe(identity.certPem);
  await expect(identify({ line }, { ...deps, stateDir: join(dir, "thief") }, () => undefined)).rejects.toThrow(
    /already used|does not accept the token/,
  );
  const renewed = await requestCertificate(identity, identity, deps);
  expect(renewed.certPem).not.toBe(identity.certPem);
  const other = { ...identity, name: "h2" };
  await expect(requestCertificate(other, identity, { ...deps, stateDir: join(dir, "thief") })).rejects.toThrow(
    "the certificate was refused",
  );
});

test("a host that is added again under the same name: the certificate of the earlier one has no permissions", async () => {
  const enrol = async (stateDir: string) =>
    await identify({ line: await add("again") }, { clock, random, stateDir: join(dir, stateDir) }, () => undefined);
  const earlier = await enrol("earlier");
  const reads = (client: Client) => client.get(ByoHost, { namespace: "default", name: "again" });
  expect(await asHost(reads, earlier)).toBe("done");
  await admin.delete({ kind: ByoHost, namespace: "default", name: "again" });
  const later = await enrol("later");
  expect(await asHost(reads, later)).toBe("done");
  expect(await asHost(reads, earlier)).toBe("refused");
  await expect(requestCertificate(earlier, earlier, { clock, random, stateDir: join(dir, "earlier") })).rejects.toThrow(
    "belongs to an earlier enrolment",
  );
});

const object = (kind: { apiVersion: string; kind: string }, name: string, spec: object): Unstructured => ({
  apiVersion: kind.apiVersion,
  kind: kind.kind,
  metadata: { namespace: "default", name, labels: { "cluster.x-k8s.io/cluster-name": "c1" } },
  spec,
});

test("a machine claims the host, its agent may read the machine's Secret just as long", async () => {
  const options: AgentOptions = {
    identity,
    stateDir: join(dir, "state"),
    root: join(dir, "root"),
    clock,
    random,
    log: silentLogger,
    run: (command) => {
      ran.push(String(command));
      return Promise.resolve({ exitCode: 0, output: "ok\n", timedOut: false });
    },
    facts: () => Promise.resolve({ hostinfo: { hostname: "h1" } }),
    probe: () => Promise.resolve({ hostname: "h1", swap: [], leftovers: [], freeMiB: 9999, missingPrograms: [] }),
  };
  const stop = new AbortController();
  const { finished } = runAgent(options, stop.signal);
  ends.unshift(() => {
    stop.abort(new Error("over"));
    return finished;
  });
  const ready = async () => findCondition((await host())?.status?.conditions ?? [], "Ready")?.status;
  await until("a Ready host", async () => (await ready()) === "True");

  const data = Buffer.from("#cloud-config\nruncmd: [kubeadm join]\n").toString("base64");
  for (const name of ["m1", "other"])
    await admin.create({
      ...object({ apiVersion: "v1", kind: "Secret" }, name, {}),
      spec: undefined,
      data: { value: data },
    } as Unstructured);
  expect(await readsSecret("m1")).toBe("refused");

  const endpoint = { controlPlaneEndpoint: { host: "h", port: 6443 } };
  const byoCluster = { apiGroup: ByoMachine.group, kind: "ByoCluster", name: "c1" };
  await admin.create(object(Cluster, "c1", { ...endpoint, infrastructureRef: byoCluster }));
  await admin.patchStatus(
    { kind: Cluster, namespace: "default", name: "c1" },
    { status: { initialization: { infrastructureProvisioned: true, controlPlaneInitialized: true } } },
  );
  const infrastructureRef = { apiGroup: ByoMachine.group, kind: ByoMachine.kind, name: "m1" };
  const machine = await admin.create(
    object(Machine, "m1", {
      clusterName: "c1",
      version: "v1.37.1",
      bootstrap: { dataSecretName: "m1" },
      infrastructureRef,
    }),
  );
  const { uid = "" } = machine.metadata;
  const byo = object(ByoMachine, "m1", {});
  byo.metadata.ownerReferences = [{ apiVersion: Machine.apiVersion, kind: "Machine", name: "m1", uid }];
  await admin.create(byo);
  await until("a bootstrapped host", async () => (await host())?.status?.bootstrap?.phase === "Succeeded");
  expect(ran).toContain("kubeadm join");
  expect(await readsSecret("m1")).toBe("done");
  expect(await readsSecret("other")).toBe("refused");
  expect(await asHost((client) => client.list(Secret, { namespace: "default" }))).toBe("refused");
  expect(
    await asHost((client) => client.patch({ kind: ByoHost, namespace: "default", name: "h1" }, { spec: {} })),
  ).toBe("refused");
  const log = { method: "GET", path: "/api/v1/namespaces/default/configmaps/byoh-log-h1" } as const;
  await until("the step in the log", async () => JSON.stringify(await admin.request(log)).includes("kubeadm join"));

  await admin.delete({ kind: ByoMachine, namespace: "default", name: "m1" });
  await until("a free host", async () => JSON.stringify((await host())?.spec ?? {}) === "{}");
  expect(ran.some((command) => command.includes("kubeadm reset"))).toBe(true);
  expect(await readsSecret("m1")).toBe("refused");
});

test("v1beta1 is served by our webhook: the host as today's tools read it", async () => {
  const { stdout } = await real.kubectl("get", "byohosts.v1beta1.infrastructure.cluster.x-k8s.io", "h1", "-o", "json");
  const old = JSON.parse(stdout) as {
    apiVersion: string;
    status: { conditions: { type: string; severity?: string }[] };
  };
  expect(old.apiVersion).toBe("infrastructure.cluster.x-k8s.io/v1beta1");
  expect(old.status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
  expect(old.status.conditions).toContainEqual(
    expect.objectContaining({ type: "K8sNodeBootstrapSucceeded", status: "False", severity: "Info" }),
  );
});
