/** A program: an API in memory with many clusters, the dashboard, and no controllers. Prints a link; ends with its standard input. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom, type Unstructured } from "@capstan/apimachinery";
import { createApiServer, memoryStore } from "@capstan/apiserver";
import { actingInProcess, startDashboard } from "@capstan/dashboard-server";
import { KINDS, PROVIDERS } from "@capstan/manager";
import { Cache, Client, silentLogger } from "@capstan/runtime";
import { ROOT } from "./root.ts";

const deps = { clock: systemClock, random: systemRandom };
const count = Number(process.argv[2] ?? "1000");
const dataDir = await mkdtemp(join(tmpdir(), "capstan-quiet-"));
const api = await createApiServer({ store: memoryStore(), ...deps });
await api.registerCrds(KINDS.map((kind) => kind.crd()));
const client = new Client(api.admin(), { fieldManager: "dashboard", clock: systemClock });
const clusters = Array.from({ length: count }, (_, index) => clusterNumber(index));
await api.seed(clusters);
for (const cluster of clusters) await client.patchStatus(cluster, { status: cluster["status"] });
const cache = new Cache(client, deps);
cache.start();
const dashboard = await startDashboard({
  pageDir: join(ROOT, "packages/dashboard/dist"),
  listen: { host: "127.0.0.1", port: 0 },
  dataDir,
  acting: actingInProcess(api),
  cache,
  providers: PROVIDERS,
  version: "test",
  log: silentLogger,
  ...deps,
});
console.log(dashboard.signInLink({ name: "admin", groups: ["system:masters"] }));
process.stdin.resume();
process.stdin.once("end", () => {
  void rm(dataDir, { recursive: true, force: true }).finally(() => process.exit(0));
});

/** Every tenth is in trouble. */
function clusterNumber(index: number): Unstructured {
  const name = `c-${String(index).padStart(4, "0")}`;
  const well = index % 10 !== 3;
  const condition = (type: string): object => ({
    type,
    status: well ? "True" : "False",
    reason: well ? "Available" : "QuotaExceeded",
    message: well ? "" : "the quota of the namespace is used up",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  });
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata: { namespace: "default", name },
    spec: { infrastructureRef: { apiGroup: "infrastructure.cluster.x-k8s.io", kind: "MemoryCluster", name } },
    status: {
      phase: "Provisioned",
      conditions: [condition("Available"), condition("WorkersAvailable")],
      workers: { desiredReplicas: 3, availableReplicas: well ? 3 : 1 },
    },
  } as Unstructured;
}
