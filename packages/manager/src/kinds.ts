import { Cluster, type KindDefinition, type KindObject, Machine, MachineDeployment, MachineSet } from "@capstan/capi";
import { HostedControlPlane } from "@capstan/controlplane-hosted";

/** A kind whatever its type. */
export type AnyKind = Pick<
  KindDefinition<KindObject<object>>,
  "group" | "kind" | "plural" | "namespaced" | "version" | "versions" | "crd" | "doc"
>;

/** Every kind this manager serves. */
export const KINDS: readonly AnyKind[] = [Cluster, Machine, MachineSet, MachineDeployment, HostedControlPlane];
