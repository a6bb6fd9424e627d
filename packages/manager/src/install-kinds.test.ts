import { seededRandom, systemClock, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { CustomResourceDefinition } from "@capstan/capi";
import { BareMetalHost } from "@capstan/infra-metal3";
import { Client } from "@capstan/runtime";
import { expect, test } from "vitest";
import { managerTransport } from "./access.ts";
import { installKinds } from "./install-kinds.ts";
import { PROVIDERS } from "./providers.ts";

test("a CRD that upstream's operator brought stays as it is; ours are renewed", async () => {
  const clock = systemClock;
  const server = await createApiServer({ store: memoryStore(), clock, random: seededRandom(1) });
  const upstream = new Client(server.admin(), { fieldManager: "baremetal-operator", clock });
  const theirs = BareMetalHost.crd();
  await upstream.apply({ ...theirs, metadata: { ...theirs.metadata, labels: { made: "upstream" } } });
  const client = new Client(server.admin(), { fieldManager: "capstan", clock });
  const servedBy = {
    crdOf: (kind: { crd(): typeof theirs }) => kind.crd(),
    configurations: [],
    close: async () => undefined,
  };
  await installKinds(PROVIDERS, client, clock, servedBy);
  await installKinds(PROVIDERS, client, clock, servedBy);
  const labels = async (name: string): Promise<unknown> =>
    (await client.get(CustomResourceDefinition, { name }))?.metadata.labels;
  expect(await labels("baremetalhosts.metal3.io")).toEqual({ made: "upstream" });
  expect(await labels("hardwaredata.metal3.io")).toMatchObject({ "clusterctl.cluster.x-k8s.io": "" });
  await server.close();
});

test("a restart rewrites neither a CRD nor the manager's namespace and roles", async () => {
  const store = memoryStore();
  const start = async (nowMs: number): Promise<number> => {
    const clock = new VirtualClock(nowMs);
    const server = await createApiServer({ store, clock, random: seededRandom(1) });
    const client = new Client(await managerTransport(server, clock), { fieldManager: "capstan", clock });
    const crdOf = (kind: { crd(): ReturnType<typeof BareMetalHost.crd> }) => kind.crd();
    const installing = installKinds(PROVIDERS, client, clock, {
      crdOf,
      configurations: [],
      close: async () => undefined,
    });
    let installed = false;
    void installing.finally(() => {
      installed = true;
    });
    while (!installed) await clock.advance(100);
    await installing;
    await server.close();
    return (await store.load()).revision;
  };
  const first = await start(Date.UTC(2026, 0, 1));
  expect(await start(Date.UTC(2026, 0, 2))).toBe(first);
});
