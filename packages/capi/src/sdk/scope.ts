import type { Clock, Random } from "@capstan/apimachinery";
import type { Logger, Recorder } from "@capstan/runtime";
import type { Cluster } from "../kinds/cluster.ts";
import type { Machine } from "../kinds/machine.ts";
import type { WorkloadConnection } from "../workload/types.ts";
import type { InfraClusterObject, InfraMachineObject } from "./infra-kinds.ts";

/** Arguments of every provider function: the outside world, clock and random source. */
export interface ProviderScope<B> {
  /** The provider's own way to the outside world. */
  readonly backend: B;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Records events for what was done; problems in outcomes are reported automatically. */
  readonly recorder: Recorder;
  /** Aborted when the manager stops; long calls should end then. */
  readonly signal: AbortSignal;
}

/** What `ensure` of an infrastructure cluster gets. */
export interface InfraClusterScope<C extends InfraClusterObject, B = undefined> extends ProviderScope<B> {
  readonly object: C;
  readonly cluster: Cluster;
}

/** What `remove` of an infrastructure cluster gets: the Cluster may be deleted before it. */
export interface InfraClusterRemoval<C extends InfraClusterObject, B = undefined> extends ProviderScope<B> {
  readonly object: C;
  readonly cluster: Cluster | undefined;
}

/** The data a machine runs when it first boots. */
export interface BootstrapData {
  readonly format: "cloud-config" | "ignition";
  readonly bytes: Uint8Array;
}

/** What `ensure` of an infrastructure machine receives (docs/architecture.md, "Interfaces between parts"). */
export interface MachineScope<
  M extends InfraMachineObject,
  B = undefined,
  C extends InfraClusterObject = InfraClusterObject,
> extends ProviderScope<B> {
  readonly object: M;
  readonly machine: Machine;
  readonly cluster: Cluster;
  /** The provider's own infrastructure cluster of this Cluster, if any: machines work without it. */
  readonly infraCluster: C | undefined;
  readonly bootstrap: { data(): Promise<BootstrapData> };
  /** The connection to the cluster the machine belongs to, as it is right now. */
  readonly workload: WorkloadConnection;
}

/** What `remove` of an infrastructure machine gets: its owners may be deleted before it. */
export interface MachineRemoval<M extends InfraMachineObject, B = undefined> extends ProviderScope<B> {
  readonly object: M;
  readonly machine: Machine | undefined;
  readonly cluster: Cluster | undefined;
}
