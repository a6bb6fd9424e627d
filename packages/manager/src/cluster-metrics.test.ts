import { seededRandom, type Unstructured, VirtualClock } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { Cluster } from "@capstan/capi";
import { Cache, Client, createMetrics } from "@capstan/runtime";
import { expect, test } from "vitest";
import { observeClusterStates } from "./cluster-metrics.ts";
import { PROVIDERS } from "./providers.ts";

test("clusters are counted by state, and each names its own", async () => {
  const clock = new VirtualClock();
  const deps = { clock, random: seededRandom(1) };
  const api = await createApiServer({ store: memoryStore(), ...deps, controllers: false });
  await api.registerCrds([Cluster.crd()]);
  const client = new Client(api.admin(), { fieldManager: "test", clock });
  const cache = new Cache(client, deps);
  cache.start();
  const metrics = await createMetrics({ clock });
  observeClusterStates(metrics, cache, PROVIDERS, clock);
  cache.informer(Cluster);
  const cluster = (name: string, paused: boolean): Unstructured => ({
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { namespace: "default", name },
    spec: { paused },
  });
  await client.create(cluster("resting", true));
  await client.create(cluster("new", false));
  await clock.advance(1000);

  const { body } = await metrics.text();
  expect(body).toContain('capstan_clusters{state="Paused"} 1\n');
  expect(body).toContain('capstan_clusters{state="Progressing"} 1\n');
  expect(body).toContain('capstan_clusters{state="Degraded"} 0\n');
  expect(body).toContain('capstan_cluster_state{namespace="default",name="resting",state="Paused"} 1\n');

  await client.delete(cluster("resting", true));
  await clock.advance(600_000);
  const later = (await metrics.text()).body;
  expect(later).not.toContain("resting");
  expect(later).toContain('capstan_cluster_state{namespace="default",name="new",state="Degraded"} 1\n');

  await cache.stop();
  await api.close();
});
