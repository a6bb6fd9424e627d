import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  findCondition,
  parseYamlDocuments,
  seededRandom,
  type Unstructured,
  VirtualClock,
} from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, conditionsOf, KubeadmConfig, Machine } from "@capstan/capi";
import { Client, silentLogger } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { managerTransport } from "./access.ts";
import { kindRules } from "./kind-rules.ts";
import { KINDS } from "./kinds.ts";
import { type Manager, startManager } from "./manager.ts";

/** Manifests as other tools' quick starts have them reach Available, unchanged but for the provider's kind names. */
let clock: VirtualClock;
let server: ApiServer;
let manager: Manager;
let client: Client;
let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "capstan-quick-start-"));
  clock = new VirtualClock();
  const random = seededRandom(1);
  let running: ApiServer | undefined;
  server = await createApiServer({ store: memoryStore(), clock, random, ...kindRules(KINDS, () => running) });
  running = server;
  manager = await startManager({
    transport: await managerTransport(server, clock),
    kinds: "in-process",
    dataDir,
    clock,
    random,
    log: silentLogger,
  });
  client = new Client(server.admin(), { fieldManager: "user", clock });
});

afterEach(async () => {
  await manager.stop();
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
});

const manifest = (name: string): Unstructured[] =>
  parseYamlDocuments(
    readFileSync(new URL(`../testdata/quick-start/${name}.yaml`, import.meta.url), "utf8"),
  ) as Unstructured[];

const key = { namespace: "default", name: "quick" };

async function until(what: string, reached: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1500; i++) {
    if (await reached()) return;
    await clock.advance(200);
    // Keys are made in threads, in real time: let them finish before virtual time continues.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const cluster = await client.get(Cluster, key);
  throw new Error(
    `${what}: never; ${JSON.stringify(
      cluster?.status?.conditions?.map((c) => [c.type, c.status, c.message]),
      null,
      1,
    )}`,
  );
}

test.each(["plain-v1beta1", "plain-v1beta2", "class-v1beta1", "class-v1beta2"])(
  "%s reaches Available with its nodes, and goes away whole",
  async (name) => {
    for (const document of manifest(name)) await client.create(document);
    await until("Available", async () => {
      const cluster = await client.get(Cluster, key);
      return cluster !== undefined && findCondition(conditionsOf(cluster), "Available")?.status === "True";
    });
    const machines = (await client.list(Machine, { namespace: "default" })).items;
    expect(machines.map((machine) => machine.status?.phase)).toEqual(["Running", "Running"]);
    if (name.startsWith("class-")) await expectPatched();
    await client.delete({ kind: Cluster, ...key });
    await until("gone", async () => (await client.get(Cluster, key)) === undefined);
    expect((await client.list(Machine, { namespace: "default" })).items).toEqual([]);
  },
);

/** The patches of the class reached the machines' configuration. */
async function expectPatched(): Promise<void> {
  for (const { spec } of (await client.list(KubeadmConfig, { namespace: "default" })).items) {
    expect(spec?.joinConfiguration?.nodeRegistration?.kubeletExtraArgs).toEqual(
      expect.arrayContaining([{ name: "node-labels", value: "example.com/group=md-0" }]),
    );
    expect(spec?.files).toEqual([
      { path: "/etc/kubernetes/standard.yaml", content: "enforce: baseline\ncluster: quick\n" },
    ]);
  }
}
