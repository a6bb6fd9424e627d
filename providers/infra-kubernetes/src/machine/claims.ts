import { type HostCluster, PersistentVolumeClaim } from "@capstan/workloads";
import type { Place } from "../backend.ts";
import type { KubernetesMachine } from "../kinds/kubernetes-machine.ts";
import { type Key, ownerOf, ownMetadata } from "../names.ts";
import { claimName } from "../pod/render.ts";

/** Creates the claims of a machine that do not exist. What an earlier pod of the machine had is used again. */
export async function ensureClaims({ host, signal }: Place, { spec }: KubernetesMachine, key: Key): Promise<void> {
  for (const template of spec?.volumeClaimTemplates ?? []) {
    const name = claimName(template.metadata.name, key.name);
    // Another machine's claim may have the name: a-b of c is b-c's a.
    if (claimsOf(host, key).some(({ metadata }) => metadata.name === name)) continue;
    await host.create(
      PersistentVolumeClaim,
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: ownMetadata(ownerOf("kubernetesmachine", key), name, template.metadata),
        spec: template.spec as NonNullable<PersistentVolumeClaim["spec"]>,
      },
      signal,
    );
  }
}

/** Returns the claims of a machine. */
export function claimsOf(host: HostCluster, key: Key): PersistentVolumeClaim[] {
  return host.of(PersistentVolumeClaim, ownerOf("kubernetesmachine", key));
}

/** Returns the names of claims that a machine wants and does not have any more. */
export function missingClaims(host: HostCluster, { spec }: KubernetesMachine, key: Key): string[] {
  const present = claimsOf(host, key).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const names = new Set(present.map(({ metadata }) => metadata.name));
  const wanted = (spec?.volumeClaimTemplates ?? []).map(({ metadata }) => claimName(metadata.name, key.name));
  return wanted.filter((name) => !names.has(name));
}

/** Returns whether the claims stay when the machine is deleted. */
export function keepsClaims({ spec }: KubernetesMachine): boolean {
  return spec?.persistentVolumeClaimRetentionPolicy?.whenDeleted === "Retain";
}
