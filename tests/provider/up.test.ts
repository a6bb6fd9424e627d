import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@capstan/apimachinery";
import { Machine } from "@capstan/capi";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Reader } from "../docs/reader.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io/v1beta2";

let dataDir: string;
const ends: (() => Promise<unknown> | undefined)[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "capstan-provider-"));
  ends.push(() => rm(dataDir, { recursive: true, force: true }));
});

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** `capstan ARGUMENTS` as a process in the folder of the built modules, with what it prints. */
function capstan(args: readonly string[]): { text(): string; ended: Promise<number | null> } {
  const more = ["--data", dataDir, "--listen", "127.0.0.1:0", "--dashboard", "off"];
  const child = spawn(process.execPath, [join(root, "packages/cli/dist/main.js"), ...args, ...more], {
    cwd: join(root, "tests/dist/provider"),
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  ends.push(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return { text: () => text, ended };
}

test("up --provider loads a provider from outside the tree, which provisions machines", async () => {
  const reader = new Reader("docs/guides/provider.md", "tests/provider/up.test.ts");
  const [program, ...args] = reader.command("Inside `capstan up`", "capstan up").split(" ");
  expect(program).toBe("capstan");
  const { text } = capstan(args);
  await vi.waitFor(() => expect(text()).toContain("Next:"), { timeout: 30_000 });
  const path = join(dataDir, "kubeconfig");
  const transport = httpTransport(await loadKubeconfig({ clock: systemClock, path }), { clock: systemClock });
  ends.push(() => transport.close());
  const client = new Client(transport, { fieldManager: "test", clock: systemClock });
  const metadata = { name: "c1", namespace: "default" };
  const labels = { "cluster.x-k8s.io/cluster-name": "c1" };
  const reference = (kind: string): object => ({ apiGroup: "infrastructure.cluster.x-k8s.io", kind, name: "c1" });
  await client.create({ apiVersion: INFRASTRUCTURE, kind: "LabCluster", metadata, spec: {} });
  await client.create({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata,
    spec: { infrastructureRef: reference("LabCluster"), controlPlaneEndpoint: { host: "192.0.2.1", port: 6443 } },
  });
  await client.create({ apiVersion: "v1", kind: "Secret", metadata: { ...metadata, labels }, data: { value: "eA==" } });
  await client.create({ apiVersion: INFRASTRUCTURE, kind: "LabMachine", metadata: { ...metadata, labels }, spec: {} });
  await client.create({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: { ...metadata, labels },
    spec: { clusterName: "c1", bootstrap: { dataSecretName: "c1" }, infrastructureRef: reference("LabMachine") },
  });
  await vi.waitFor(async () => expect((await client.get(Machine, metadata))?.spec.providerID).toBe("lab://rack-1-1"), {
    timeout: 20_000,
  });
}, 60_000);

test("up --provider with a module that is not a provider says what to export", async () => {
  const { text, ended } = capstan(["up", "--provider", "memory-lab.js"]);
  expect(await ended).toBe(1);
  expect(text()).toMatch(
    /^error: memory-lab\.js does not export a provider under the name "provider"\nnext: export const provider = /,
  );
}, 30_000);
