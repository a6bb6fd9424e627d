import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { findCondition, seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { type ApiServer, createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster, conditionsOf, indexCustomResourceDefinitions } from "@capstan/capi";
import { HostedControlPlane, hostedControlPlaneController, type Placement } from "@capstan/controlplane-hosted";
import { Cache, Client, openDialGate, silentLogger, startControllers } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ATTACKS } from "./user-file-attacks.ts";

/**
 * A tenant supplies a file for kube-apiserver in which Kubernetes reads a command, or a path, that a reader in JavaScript does not see.
 * What Kubernetes reads in each text is recorded by tools/record-yaml.
 */
const recorded = JSON.parse(readFileSync(new URL("./user-file-attacks.json", import.meta.url), "utf8")) as Record<
  string,
  { read: unknown; kubeConfigFile?: string }
>;

const key = { namespace: "default", name: "tenant" };
/** What the placement had to write, by name of the file. */
let written: Record<string, string>[];
let clock: VirtualClock;
let server: ApiServer;
let client: Client;
let stop: () => Promise<void>;

beforeEach(async () => {
  written = [];
  clock = new VirtualClock();
  server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
  await server.registerCrds([Cluster, HostedControlPlane].map((kind) => kind.crd()));
  client = new Client(server.admin(), { fieldManager: "tenant", clock });
  const random = seededRandom(2);
  const cache = new Cache(new Client(server.admin(), { fieldManager: "capstan", clock }), { clock, random });
  indexCustomResourceDefinitions(cache);
  const placement: Placement = {
    reserve: async () => ({ type: "reserved", endpoint: { host: "10.0.0.1", port: 6443 } }),
    ensure: async (plan) => {
      written.push(plan.userFiles.apiServer);
      return { components: [], apiReady: false };
    },
    observe: async () => ({ components: [], apiReady: false }),
    hibernate: async () => ({ components: [], apiReady: false }),
    remove: async () => [],
    subscribe: () => () => undefined,
  };
  const stopping = new AbortController();
  startControllers(
    [
      hostedControlPlaneController({
        placements: { Process: placement },
        defaultPlacement: "Process",
        prepared: new Map(),
        gate: openDialGate(),
      }),
    ],
    { cache, clock, random, log: silentLogger, recorder: { event: () => undefined } },
    stopping.signal,
  );
  stop = async () => {
    stopping.abort(new Error("stopped"));
    await cache.stop();
    await server.close();
  };
});

afterEach(async () => {
  await stop();
});

/** The tenant's control plane with one file that a flag names; waits for the answer: something is written, or the condition says why not. */
async function supply(flag: string, text: string): Promise<string> {
  const controlPlaneRef = { apiGroup: HostedControlPlane.group, kind: HostedControlPlane.kind, name: key.name };
  const owner = await client.create({
    apiVersion: Cluster.apiVersion,
    kind: "Cluster",
    metadata: { ...key },
    spec: { controlPlaneRef },
  } as Unstructured);
  await client.create({
    apiVersion: HostedControlPlane.apiVersion,
    kind: HostedControlPlane.kind,
    metadata: {
      ...key,
      ownerReferences: [
        { apiVersion: Cluster.apiVersion, kind: "Cluster", name: key.name, uid: owner.metadata.uid ?? "" },
      ],
    },
    spec: {
      version: "v1.34.4",
      apiServer: {
        files: [{ name: "file.yaml", content: text }],
        extraArgs: [{ name: flag, value: "$FILES/file.yaml" }],
      },
    },
  } as Unstructured);
  // Keys are made in threads, in real time, which turns of the event loop give; their number bounds it.
  for (let turn = 0; turn < 5000; turn++) {
    const object = await client.get(HostedControlPlane, key);
    const told = object === undefined ? undefined : findCondition(conditionsOf(object), "Available");
    if (written.length > 0 || told?.reason === "FilesNotAvailable") return told?.message ?? "";
    await stat(".");
    await clock.advance(3);
  }
  throw new Error("no answer");
}

test.each(Object.entries(ATTACKS))("%s: Kubernetes never gets to read it", async (name, { flag, text }) => {
  const reading = recorded[name];
  // The attack is one: this is what Kubernetes would do.
  expect(reading?.kubeConfigFile ?? JSON.stringify(reading?.read)).toMatch(
    /\/etc\/shadow|"exec":\{.*"command":"\/bin\/sh"/,
  );
  const message = await supply(flag, text);
  expect(written, "nothing is written").toEqual([]);
  expect(message).toMatch(/^spec\.apiServer\.files: file\.yaml has .*; /);
});

test("a plain command, too", async () => {
  const text = 'users: [{name: u, user: {"\\x65xec": {command: /bin/sh}}}]';
  const message = await supply("audit-webhook-config-file", text);
  expect(written).toEqual([]);
  expect(message).toContain("users[0].user.exec, which would run a command on the management host");
});

test("writes accepted files again from their parsed content, without comments and spellings", async () => {
  await supply("audit-policy-file", "# why\napiVersion: audit.k8s.io/v1\nkind: 'Policy'\nrules: [{level: None}]\n");
  expect(written[0]?.["file.yaml"]).toBe(
    `${JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "None" }] }, undefined, 2)}\n`,
  );
});
