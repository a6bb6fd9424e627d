import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KubeObject } from "@capstan/apimachinery";
import { KINDS } from "@capstan/manager";
import { EmbeddedClusters } from "@capstan/workloads";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { cluster, infraCluster, workers } from "../manifests.ts";
import { Plane } from "../plane.ts";
import { makeKeysAtOnce } from "./keys-at-once.ts";
import { quiet } from "./quiet.ts";
import { RequestRecorder } from "./recorder.ts";
import { STORIES } from "./stories.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

// What the controllers import when they first need it takes real time to load: load it before anything is recorded.
beforeAll(async () => {
  const plane = await Plane.start({ own: 1, metal: 1, embeddedStores: "memory" });
  const clusters = infraCluster("byoh", "c1") + infraCluster("metal3", "c1");
  await plane.apply(cluster("c1", "ByoCluster") + clusters + workers("c1", "byoh", 1) + workers("c1", "metal3", 1));
  await plane.available("c1", 2);
  await plane.close();
});

let restoreKeys: () => void;
beforeEach(() => {
  restoreKeys = makeKeysAtOnce();
});
afterEach(() => {
  restoreKeys();
  vi.restoreAllMocks();
});

// Machines roll when what is written for them changes. README.md says how to compare the recordings of two branches.
test.each(STORIES)("a fleet lives through the recorded story: $name", async ({ name, hosts, run }) => {
  let running: Plane | undefined;
  const recorder = new RequestRecorder(() => (running === undefined ? [] : objects(running)));
  recorder.step("start");
  const dial = EmbeddedClusters.prototype.dial;
  vi.spyOn(EmbeddedClusters.prototype, "dial").mockImplementation(function (this: EmbeddedClusters, ...given) {
    const transport = dial.apply(this, given);
    return transport && recorder.record("workload", transport);
  });
  const plane = await Plane.start({
    ...hosts,
    embeddedStores: "memory",
    settled: quiet,
    observe: (transport) => recorder.record("management", transport),
  });
  running = plane;
  try {
    await run(plane, (step) => recorder.step(step));
    recorder.end();
  } finally {
    await plane.close();
    const folder = process.env["CAPSTAN_REQUESTS"];
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${name}.txt`), recorder.full());
    }
  }
  expect(recorder.digest()).toContain("state Cluster");
});

function objects({ server, namespace }: Plane): KubeObject[] {
  return KINDS.flatMap((kind) => server.internal.list(kind, namespace) as unknown as KubeObject[]);
}
