import type { Clock, Random, Transport, Unstructured } from "@capstan/apimachinery";
import type { InfrastructureProvider } from "../sdk/infrastructure-provider.ts";
import type { WorkloadClusters } from "../workload/types.ts";

/**
 * A provider under test: how to make its objects, and the outside world it acts on. Providers of infrastructure clusters only leave
 * out all about machines.
 */
export interface ContractSubject extends Partial<MachineSubject> {
  /** An API server in memory, in virtual time, that serves these CRDs with the kinds' own admission. */
  startApi(options: { clock: Clock; random: Random; crds: readonly Unstructured[] }): Promise<ContractApi>;
  /** An empty outside world. */
  createWorld(options: { clock: Clock; random: Random }): Promise<ContractWorld>;
  /** An infrastructure cluster; leave out for providers without one. */
  cluster?(name: string): Unstructured;
  /** What that infrastructure cluster refers to; created just before it. */
  beside?(name: string): Unstructured[];
  /** How long the slowest of cluster and machine may take, in virtual time; default one minute. */
  provisionMs?: number;
}

/** Machines of a provider under test. */
export interface MachineSubject {
  machine(name: string): Unstructured;
  template(name: string): Unstructured;
  /** The template with a change that would make other machines. */
  changedTemplate(template: Unstructured): Unstructured;
}

/** What a subject says of machines, if it has any. */
export function machinesOf({ machine, template, changedTemplate }: ContractSubject): MachineSubject | undefined {
  if (machine === undefined || template === undefined || changedTemplate === undefined) return undefined;
  return { machine, template, changedTemplate };
}

/** What the suite needs of a provider: its kinds and its running part. */
export type TestedProvider = Pick<InfrastructureProvider, "name" | "kinds" | "addIndexes" | "controllers">;

/** The API server of one case. */
export interface ContractApi {
  transport: Transport;
  close(): Promise<void>;
}

/** What a provider acts on; outlives the provider, as a cloud does. */
export interface ContractWorld {
  /** The provider as after a start of its process: no memory, the same world. */
  provider(): TestedProvider;
  workload?: WorkloadClusters;
  /** What bootstrap Secrets hold; an empty cloud-config unless said. */
  bootstrapData?: string;
  /** Names of everything that exists outside. */
  leftovers(): Promise<readonly string[]>;
  close?(): Promise<void>;
}

/** One thing every infrastructure provider must do. */
export interface ContractCase {
  readonly name: string;
  run(): Promise<void>;
}
