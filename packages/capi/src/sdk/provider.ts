import type { Clock, Random, Transport } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import type { Cache, Client, ClientConfig, Controller, Logger, Metrics } from "@capstan/runtime";
import type { AnyKind } from "../kinds/all.ts";
import type { WorkloadClusters } from "../workload/types.ts";
import type { WorkloadCalls } from "../workload/workload-calls.ts";
import type { CapacitySource } from "./capacity.ts";
import type { ProviderDescription } from "./description.ts";

/** A rule of a ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** Who may use the kinds of a provider, and what its controllers may do. */
export interface ProviderAccess {
  /** What its controllers need in addition to its own kinds. */
  readonly rules?: readonly PolicyRule[];
  /** Plurals of kinds whose objects hold credentials: like Secrets, `view` does not show them. */
  readonly credentials?: readonly string[];
  /**
   * Plurals of kinds that stand for machines and addresses outside the API, or that only controllers write: `admin` of the namespace
   * writes them, `edit` does not.
   */
  readonly inventory?: readonly string[];
}

/** What a manager gives to the providers it loads. */
export interface ProviderDeps {
  readonly client: Client;
  readonly cache: Cache;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** For gauges of its own and the measurements of its controllers. */
  readonly metrics?: Metrics | undefined;
  readonly workload: WorkloadClusters;
  /** Limits the calls of all controllers to workload clusters. */
  readonly calls: WorkloadCalls;
  /** Decides which addresses that objects refer to may be dialed. */
  readonly gate: DialGate;
  /** Folder for files that must survive a restart; a provider uses a subfolder named after itself. */
  readonly dataDir: string;
  /** Address of this machine that nodes and management controllers reach. */
  readonly nodeAddress: string;
  /** Connects a simulated machine to the API that it joins. */
  connect(config: ClientConfig, hint?: { caCertHashes?: readonly string[] }): Transport;
  /** The capacity sources of all loaded providers; complete once every provider is loaded. */
  capacitySources(): readonly CapacitySource[];
}

/** A provider that a manager has loaded: its running part. */
export interface LoadedProvider {
  /** Adds the indexes that its controllers read by; called before the cache starts. */
  addIndexes(cache: Cache): void;
  /** Its controllers; called once all providers are loaded. */
  controllers(deps: { workload: WorkloadClusters }): Controller[];
  /** How it announces capacity, if it can. */
  readonly capacity?: CapacitySource;
  /** Closes connections and servers after the controllers have stopped. Programs that it runs on this machine stop, or keep running. */
  close?(programs: "stop" | "keep"): Promise<void>;
}

/** A provider: everything that a manager, the CLI and the dashboard know about it. */
export interface Provider<D = ProviderDeps> extends ProviderDescription {
  /** All kinds that it serves. */
  readonly kinds: readonly AnyKind[];
  readonly access?: ProviderAccess;
  /** Operators of other projects serve its kinds too: CRDs that are there stay as they are, or fields unknown here would be lost. */
  readonly sharedGroups?: readonly string[];
  /**
   * Creates its running part. Called once per process, before the cache starts. The command line reads this value without calling it, so
   * a provider of this tree imports its controllers here.
   */
  load(deps: D): LoadedProvider | Promise<LoadedProvider>;
}
