import type { KubeObject } from "@capstan/apimachinery";
import { Machine, MachineDeployment, MachineSet, Secret } from "@capstan/capi";
import { HostedControlPlane } from "@capstan/controlplane-hosted";
import type { World } from "./world.ts";

const AUTHORITIES = ["ca", "etcd", "proxy", "sa"];

/** Returns what a rollout would change: the keys of a cluster, and the Machines of all. */
export async function picture(world: World, cluster = "c1"): Promise<Record<string, unknown>> {
  const secrets = (await world.list(Secret)).filter(({ metadata }) =>
    AUTHORITIES.some((purpose) => metadata.name === `${cluster}-${purpose}`),
  );
  const rolling: KubeObject[] = [
    ...(await world.list(Machine)),
    ...(await world.list(MachineSet)),
    ...(await world.list(MachineDeployment)),
    ...(await world.list(HostedControlPlane)),
  ];
  return {
    ...Object.fromEntries(secrets.map(({ metadata, data }) => [`Secret ${metadata.name}`, data])),
    ...Object.fromEntries(
      rolling.map((object) => [
        `${object.kind} ${object.metadata.name}`,
        { uid: object.metadata.uid, spec: (object as { spec?: unknown }).spec },
      ]),
    ),
  };
}
