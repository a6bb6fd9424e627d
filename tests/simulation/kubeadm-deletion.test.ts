import type { Unstructured } from "@capstan/apimachinery";
import { KubeadmConfig, KubeadmControlPlane, Machine, Secret } from "@capstan/capi";
import { expect, test } from "vitest";
import { kubeadmCluster } from "./kubeadm-manifests.ts";
import { machinesOf } from "./kubeadm-plane.ts";
import { Plane } from "./plane.ts";

const FILE = kubeadmCluster("c1", { replicas: 3, workers: 1 });

/** Deletes the objects of the file, as `kubectl delete -f` does, which does not wait between them. */
async function deleteFile(plane: Plane, applied: readonly Unstructured[], reversed: boolean): Promise<void> {
  for (const { apiVersion, kind, metadata } of reversed ? applied.toReversed() : applied) {
    const known = await plane.client.kindOf({ apiVersion, kind });
    const key = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
    if ((await plane.client.get(known, key)) !== undefined) await plane.client.delete({ kind: known, ...key });
  }
}

test.each([
  { ms: 0, reversed: false },
  { ms: 300, reversed: true },
  { ms: 4_000, reversed: false },
  { ms: 8_000, reversed: true },
  { ms: 20_000, reversed: false },
  { ms: 60_000, reversed: true },
])(
  "the file is deleted $ms ms after it was applied (reversed: $reversed): nothing is left over",
  async ({ ms, reversed }) => {
    const plane = await Plane.start({ own: 0, metal: 0 });
    try {
      const applied = await plane.apply(FILE);
      if (ms > 0) await plane.pass(ms);
      await deleteFile(plane, applied, reversed);
      await plane.gone("c1");
      await plane.pass(30_000);
      expect(await machinesOf(plane, "c1")).toEqual([]);
      for (const kind of [KubeadmControlPlane, KubeadmConfig, Machine, Secret])
        expect(
          (await plane.list(kind as typeof Machine)).map(({ metadata }) => metadata.name),
          kind.kind,
        ).toEqual([]);
    } finally {
      await plane.close();
    }
  },
  120_000,
);
