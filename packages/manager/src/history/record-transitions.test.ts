import { seededRandom, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster } from "@capstan/capi";
import { Cache, Client, silentLogger } from "@capstan/runtime";
import { expect, test } from "vitest";
import { installKinds } from "../install-kinds.ts";
import { kindRules } from "../kind-rules.ts";
import { KINDS } from "../kinds.ts";
import { serveKinds } from "../webhooks.ts";
import { recordTransitions } from "./record-transitions.ts";

test("every turn of a condition becomes an event; a start, a repeated word and a first word do not", async () => {
  const clock = new VirtualClock();
  const random = seededRandom(1);
  const server = await createApiServer({
    store: memoryStore(),
    clock,
    random,
    controllers: false,
    ...kindRules(KINDS, () => server),
  });
  const client = new Client(server.admin(), { fieldManager: "test", clock });
  const metrics = undefined;
  await installKinds(
    [{ kinds: KINDS }],
    client,
    clock,
    await serveKinds("in-process", client, KINDS, { clock, random, metrics, log: silentLogger }),
  );
  const key = { kind: Cluster, namespace: "default", name: "c" };
  await client.create({
    apiVersion: Cluster.apiVersion,
    kind: "Cluster",
    metadata: { namespace: "default", name: "c" },
    spec: { controlPlaneRef: { apiGroup: "controlplane.cluster.x-k8s.io", kind: "HostedControlPlane", name: "c" } },
  });
  const say = async (status: string, reason: string, message = ""): Promise<void> => {
    const condition = { type: "Available", status, reason, message, lastTransitionTime: "2026-01-01T00:00:00Z" };
    await client.patchStatus(key, { status: { conditions: [condition] } });
    await clock.advance(100);
  };
  const cache = new Cache(client, { clock, random, log: silentLogger });
  const told: string[] = [];
  const event = (object: { metadata: { name?: string } }, type: string, reason: string, _: string, note: string) =>
    void told.push(`${object.metadata.name} ${type} ${reason}: ${note}`);
  const stop = recordTransitions(cache, { event });
  cache.start();
  await cache.waitForSync();
  await say("False", "NotAvailable", "no replica serves");
  expect(told).toEqual([]);
  await say("True", "Available");
  await say("True", "Available");
  await say("False", "NotAvailable", "the control plane is down");
  expect(told).toEqual([
    "c Normal Available: Available is True",
    "c Warning NotAvailable: Available is False: the control plane is down",
  ]);
  stop();
  await say("True", "Available");
  expect(told).toHaveLength(2);
  await cache.stop();
  await server.close();
});
