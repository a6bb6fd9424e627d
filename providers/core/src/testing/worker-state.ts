import type { KubeObject } from "@capstan/apimachinery";
import { Cluster, Machine, MachineDeployment, MachineSet } from "@capstan/capi";
import type { Kind } from "@capstan/runtime";
import { listed } from "./core-plane.ts";
import type { Plane } from "./plane.ts";
import { TestConfig, TestMachine } from "./test-infrastructure.ts";

const KINDS: Kind<KubeObject>[] = [Cluster, MachineDeployment, MachineSet, Machine, TestMachine, TestConfig] as never;

/** Everything there is, without names made by chance: kinds with owners, phases and counts. */
export async function workerState(plane: Plane): Promise<string[]> {
  const lines: string[] = [];
  for (const kind of KINDS) {
    for (const object of await listed(plane, kind)) {
      const { metadata, status } = object as KubeObject & { status?: Record<string, unknown> };
      const owner = metadata.ownerReferences?.map((reference) => reference.kind).join("+") ?? "";
      const told = ["phase", "replicas", "readyReplicas", "availableReplicas", "upToDateReplicas"]
        .map((field) => status?.[field])
        .filter((value) => value !== undefined);
      lines.push(`${kind.kind} of ${owner} ${told.join(" ")} ${(metadata.finalizers ?? []).join(",")}`);
    }
  }
  return lines.sort();
}
