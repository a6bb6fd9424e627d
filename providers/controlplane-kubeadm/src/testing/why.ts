import type { KubeObject } from "@capstan/apimachinery";
import { assess, conditionsOf, type ObjectNode } from "@capstan/capi";
import { kubeadmControlPlaneDescription } from "../description.ts";
import type { World } from "./world.ts";

const HOUR_MS = 3_600_000;

/** What `why` prints about the conditions that the controllers have set, an hour later. */
export async function causesOf(world: World): Promise<readonly { cause: string; steps: readonly string[] }[]> {
  const nodeOf = (object: KubeObject & { status?: unknown }, children: ObjectNode[] = []): ObjectNode => ({
    kind: object.kind,
    name: object.metadata.name ?? "",
    conditions: conditionsOf(object),
    deleting: false,
    children,
  });
  const machines = (await world.machines()).map((machine) => nodeOf(machine));
  const root = nodeOf(await world.cluster(), [nodeOf(await world.get(), machines)]);
  const { causes } = assess(root, {
    nowMs: world.plane.clock.now() + HOUR_MS,
    providers: [kubeadmControlPlaneDescription],
    namespace: world.key.namespace,
    cluster: world.key.name,
  });
  return causes;
}
