import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { kindRef, Lease } from "@capstan/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RealClient, startRealClient, until } from "./real-kubernetes.ts";

const CLI = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
const LEASE = { namespace: "capstan-system", name: "capstan-manager" };
const Cluster = kindRef({
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  kind: "Cluster",
  plural: "clusters",
  namespaced: true,
});

const dir = mkdtempSync(join(tmpdir(), "capstan-two-managers-"));
let setup: RealClient;
const managers: Manager[] = [];

beforeAll(async () => {
  setup = await startRealClient();
});

afterAll(async () => {
  for (const { child } of managers) child.kill("SIGKILL");
  await setup?.stop();
  rmSync(dir, { recursive: true, force: true });
});

/** The built command in a process of its own. */
class Manager {
  readonly child: ChildProcess;
  output = "";
  readonly ended: Promise<number | null>;

  constructor(name: string, ...more: string[]) {
    const options = ["--kubeconfig", setup.real.kubeconfigFile, "--data", join(dir, name)];
    // The times of the election are the defaults: shorter ones would test how busy the machine is.
    this.child = spawn(process.execPath, [CLI, "manager", ...options, "--webhook-listen", "127.0.0.1:0", ...more]);
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on("data", (chunk: Buffer) => {
        this.output += chunk.toString();
      });
    this.ended = new Promise((resolve) => this.child.once("exit", resolve));
    managers.push(this);
  }

  get leads(): boolean {
    return this.output.includes("Controllers are running on");
  }

  async says(text: string): Promise<void> {
    await until(`"${text}"`, () => {
      if (this.child.exitCode !== null) throw new Error(`ended with ${this.child.exitCode}: ${this.output}`);
      return this.output.includes(text);
    });
  }

  url(label: string): string {
    return new RegExp(`^${label}: +(\\S+)$`, "m").exec(this.output)?.[1] ?? expect.fail(this.output);
  }
}

async function worksOn(name: string): Promise<void> {
  const { client } = setup;
  const infrastructureRef = { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryCluster", name };
  const metadata = { name, namespace: "default" };
  await client.create({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata,
    spec: { infrastructureRef },
  });
  await until(`work on ${name}`, async () => {
    const cluster = await client.get(Cluster, metadata);
    return (cluster?.metadata.finalizers ?? []).length > 0;
  });
}

function statusOf(url: string, token?: string): Promise<{ status: number | undefined; text: string }> {
  const { hostname, port, pathname } = new URL(url);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: pathname, headers, rejectUnauthorized: false }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.once("end", () => resolve({ status: response.statusCode, text }));
    })
      .once("error", reject)
      .end();
  });
}

test("two managers on one cluster: one leads, the other takes over when it is killed, and a manager that loses the Lease exits", async () => {
  const { client, real } = setup;
  const first = new Manager("first");
  await first.says("Controllers are running on");
  const second = new Manager("second", "--metrics-bind-address", "0.0.0.0:0");
  await second.says("Waiting for the Lease");
  await worksOn("one");
  expect([first.leads, second.leads]).toEqual([true, false]);
  expect(await (await fetch(first.url("Health"))).text()).toBe("ok");
  expect(await (await fetch(second.url("Health").replace("healthz", "readyz"))).text()).toBe("ok");
  expect(await (await fetch(first.url("Metrics"))).text()).toContain(
    'leader_election_master_status{name="capstan-manager"} 1',
  );

  // Metrics on an address that is not loopback are for those whom the real API server knows and allows.
  const metrics = second.url("Metrics").replace("0.0.0.0", "127.0.0.1");
  expect((await statusOf(metrics)).status).toBe(401);
  await real.kubectl("create", "serviceaccount", "prometheus");
  const { stdout: stranger } = await real.kubectl("create", "token", "prometheus");
  expect((await statusOf(metrics, stranger.trim())).status).toBe(403);
  await real.kubectl("create", "clusterrole", "scrape", "--verb=get", "--non-resource-url=/metrics");
  await real.kubectl(
    "create",
    "clusterrolebinding",
    "s",
    "--clusterrole=scrape",
    "--serviceaccount=default:prometheus",
  );
  const { stdout: token } = await real.kubectl("create", "token", "prometheus", "--duration=11m");
  const page = await statusOf(metrics, token.trim());
  expect(page.status).toBe(200);
  expect(page.text).toContain('leader_election_master_status{name="capstan-manager"} 0');

  first.child.kill("SIGKILL");
  await second.says("Controllers are running on");
  await worksOn("two");
  expect((await client.get(Lease, LEASE))?.spec?.leaseTransitions).toBe(1);

  const third = new Manager("third");
  await third.says("Waiting for the Lease");
  const lease = (await client.get(Lease, LEASE)) ?? expect.fail("no lease");
  await client.patch({ kind: Lease, ...LEASE }, { spec: { holderIdentity: "a-stranger", renewTime: null } });
  expect(await second.ended).toBe(1);
  expect(second.output).toContain("error: leadership was lost: another manager may run the controllers now");
  expect(lease.spec?.holderIdentity).toContain("_");
  await third.says("Controllers are running on");
  await worksOn("three");

  third.child.kill("SIGTERM");
  expect(await third.ended).toBe(0);
  expect((await client.get(Lease, LEASE))?.spec?.holderIdentity ?? "").toBe("");
}, 180_000);
