import type { Unstructured } from "@capstan/apimachinery";
import { Machine } from "@capstan/capi";
import { simulatedHosts } from "@capstan/manager";
import { cluster, clusterKind, infraCluster, metaCluster, workers } from "./manifests.ts";
import { RestartedPlane } from "./restarted-plane.ts";

const DAY_MS = 24 * 3600_000;

/** How it ends, how long it is away, and how long it then runs. */
const RESTARTS: readonly { how: "stop" | "kill"; awayMs: number; afterMs: number }[] = [
  { how: "stop", awayMs: 1_000, afterMs: 5_000 },
  { how: "kill", awayMs: 1_000, afterMs: 5_000 },
  // Away for longer than any token, lease or timeout lasts.
  { how: "stop", awayMs: 3 * DAY_MS, afterMs: 20_000 },
  { how: "kill", awayMs: 3600_000, afterMs: 400 },
  // Killed again while it is still coming up.
  { how: "kill", awayMs: 1_000, afterMs: 200 },
  { how: "kill", awayMs: 1_000, afterMs: 1_400 },
  { how: "stop", awayMs: 1_000, afterMs: 600 },
  { how: "kill", awayMs: 600_000, afterMs: 5_000 },
  { how: "stop", awayMs: 60_000, afterMs: 5_000 },
  // Long enough for every check to have acted that was going to.
  { how: "kill", awayMs: 1_000, afterMs: 700_000 },
];

/** What is no state of a cluster but a sign of life. */
const PASSING = /^coordination\.k8s\.io\//;
const SIGN_OF_LIFE = /"lastHeartbeatTime":"[^"]*"|"resourceVersion":"\d+"|"time":"[^"]*"/g;

/** Clusters on embedded control planes with hosts in memory, some of them mixed, go through ten restarts. */
export async function restartStory(
  clusters: number,
  mixedClusters: number,
): Promise<{ machines: number; problems: string[] }> {
  const plane = await RestartedPlane.start();
  try {
    const names = Array.from({ length: clusters }, (_, i) => `c${i}`);
    const hosts = simulatedHosts("default", { byoh: mixedClusters, metal3: mixedClusters }) as Unstructured[];
    for (const host of hosts) await plane.client.create(host);
    for (const [i, name] of names.entries()) await plane.apply(i < mixedClusters ? mixed(name) : plain(name));
    const machines = clusters + mixedClusters;
    await plane.until("all machines run", async () => {
      const { items } = await plane.client.list(Machine, { namespace: "default" });
      return items.filter(({ status }) => status?.phase === "Running").length === machines;
    });
    await plane.pass(20_000);
    // What was only for joining, tokens and signing requests, ends by itself in time.
    await plane.restart("stop", 4 * DAY_MS);
    await plane.pass(20_000);
    const before = await picture(plane, names);
    for (const { how, awayMs, afterMs } of RESTARTS) {
      await plane.restart(how, awayMs);
      await plane.pass(afterMs);
    }
    const after = await picture(plane, names);
    const keys = new Set([...before.keys(), ...after.keys()]);
    // Events end by themselves, and a restart makes none.
    const changed = [...keys].filter(
      (key) => before.get(key) !== after.get(key) && !(key.startsWith("core/events/") && after.get(key) === undefined),
    );
    return {
      machines,
      problems: [...changed.map((key) => `${key}: ${before.get(key)} became ${after.get(key)}`), ...plane.complaints],
    };
  } finally {
    await plane.close();
  }
}

/** Every object of the management plane, and every byte of every control plane. */
async function picture(plane: RestartedPlane, names: readonly string[]): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const [key, text] of await plane.management())
    if (!PASSING.test(key)) all.set(key, key.includes("/byohosts/") ? text.replaceAll(SIGN_OF_LIFE, "") : text);
  for (const name of names)
    for (const [key, text] of await plane.contentOf(`default/${name}`)) all.set(`${name}: ${key}`, text);
  return all;
}

/** A check that replaces a Machine at the first sign of trouble. */
const healthCheck = (name: string): string => `
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineHealthCheck
metadata: { name: ${name}, namespace: default }
spec:
  clusterName: ${name}
  selector: { matchLabels: { cluster.x-k8s.io/cluster-name: ${name} } }
  checks:
    nodeStartupTimeoutSeconds: 60
    unhealthyNodeConditions:
    - { type: Ready, status: Unknown, timeoutSeconds: 30 }
    - { type: Ready, status: "False", timeoutSeconds: 30 }
`;

const plain = (name: string): string =>
  cluster(name, "MemoryCluster") + infraCluster("memory", name) + workers(name, "memory", 1) + healthCheck(name);

const mixed = (name: string): string =>
  cluster(name, "MetaCluster") +
  metaCluster(name, (["byoh", "metal3"] as const).map(clusterKind)) +
  infraCluster("byoh", name) +
  infraCluster("metal3", name) +
  workers(name, "byoh", 1) +
  workers(name, "metal3", 1) +
  healthCheck(name);
