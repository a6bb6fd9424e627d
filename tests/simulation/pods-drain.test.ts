import type { Unstructured } from "@capstan/apimachinery";
import { Cluster, Machine } from "@capstan/capi";
import { HostNode, Pod } from "@capstan/workloads";
import { afterEach, expect, test, vi } from "vitest";
import { cluster, infraCluster, workers } from "./manifests.ts";
import { Plane } from "./plane.ts";

vi.setConfig({ testTimeout: 120_000 });

let plane: Plane;
afterEach(() => plane.close());

test("a cordoned outer node has its machines replaced, with as many running as before all the time", async () => {
  plane = await Plane.start({ own: 0, metal: 0, pods: true });
  for (const name of ["outer-1", "outer-2"])
    await plane.client.create<Unstructured>({ apiVersion: "v1", kind: "Node", metadata: { name } });
  await plane.apply(
    cluster("c1", "KubernetesCluster") + infraCluster("kubernetes", "c1") + workers("c1", "kubernetes", 2),
  );
  await plane.available("c1", 2);
  const places = async (): Promise<string[]> => (await plane.list(Pod)).map(({ spec }) => spec?.nodeName ?? "").sort();
  expect(await places()).toEqual(["outer-1", "outer-2"]);

  await plane.client.patch({ kind: HostNode, name: "outer-1" }, { spec: { unschedulable: true } });
  let fewest = 2;
  await plane.until("all are on the other node", async () => {
    const living = (await plane.list(Machine)).filter(
      ({ status, metadata }) => status?.phase === "Running" && metadata.deletionTimestamp === undefined,
    );
    fewest = Math.min(fewest, living.length);
    return (await places()).join() === "outer-2,outer-2";
  });
  expect(fewest).toBe(2);
  await plane.available("c1", 2);

  await plane.client.delete({ kind: Cluster, namespace: "default", name: "c1" });
  await plane.gone("c1");
  expect(await plane.list(Pod)).toEqual([]);
});
