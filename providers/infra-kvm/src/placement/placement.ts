import type { MachineAddress, MachineRemoval, MachineScope } from "@capstan/capi";
import type { VmPhase, VmStatus } from "@capstan/vm";
import type { Backend } from "../backend.ts";
import type { KVMCluster } from "../kinds/kvm-cluster.ts";
import type { KVMMachine } from "../kinds/kvm-machine.ts";
import type { Key } from "../names.ts";

/** What `ensure` of a machine gets. */
export type Scope = MachineScope<KVMMachine, Backend, KVMCluster>;
/** What `remove` of a machine gets. */
export type Removal = MachineRemoval<KVMMachine, Backend>;

/** What a placement knows of a machine. */
export type MachineView = Omit<VmStatus, "reason"> & {
  /** One of VmReason, or of the reasons of the placement. */
  reason: string;
  addresses: MachineAddress[];
  /** Its Node registers with the provider ID for certain. */
  knowsProviderID?: boolean | undefined;
  /** Check again after this, where nothing announces a change. */
  recheckAfterMs?: number | undefined;
};

/** The number of a machine in its cluster, and what follows from its name. */
export interface MachineFacts {
  readonly key: Key;
  readonly providerID: string;
  readonly nodeIndex: number | undefined;
}

/** A way to run virtual machines. All placements do the same things, and can be killed after each of them. */
export interface Placement {
  /** Makes the machine run, as far as that is possible now. Safe to repeat. */
  ensure(scope: Scope, facts: MachineFacts): Promise<MachineView>;
  /** Begins to shut a guest down, and returns how far that is; undefined when there is no machine. Safe to repeat. */
  powerOff(key: Key, graceMs: number): Promise<VmPhase | undefined>;
  /** Deletes a machine with its disks. Safe to repeat, also when there is none. */
  destroy(removal: Removal): Promise<void>;
  /** The end of what the guest has written to its console. */
  console(key: Key, bytes: number): Promise<string>;
  /** Calls back when a machine has changed. */
  subscribe(listener: (key: Key) => void): () => void;
  /** Lets go of all machines, which keep running. */
  close(): Promise<void>;
}
