import type { Condition } from "@capstan/apimachinery";
import type { Explanation, ObjectState } from "@capstan/capi";

/** What the dashboard and its server exchange. The dashboard imports these types only. */

/** A condition's type and status: one chip of the fleet table. */
export type Chip = readonly [type: string, status: Condition["status"]];

/** Two counters: how many are there, how many are wanted. */
export type Counts = readonly [available: number, desired: number];

/** What the manager knows of where new control planes run. */
export interface ControlPlaneHome {
  /** Where one runs that does not say where. */
  readonly placement: "Process" | "Pods";
  /** Versions of Kubernetes whose programs are on the manager's machine, old to new: what processes beside it can run. */
  readonly versions: readonly string[];
}

/** One line of the fleet table. */
export interface FleetRow {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly version: string;
  readonly chips: readonly Chip[];
  readonly controlPlane: Counts;
  readonly workers: Counts;
  /** Short names of the providers its machines come from. */
  readonly providers: readonly string[];
  readonly created: string;
  /** The state of the whole cluster, its parts and hosts included. */
  readonly state: ObjectState;
  readonly deleting?: true;
}

/** How a worker pool spreads its replicas. */
export interface PoolMember {
  readonly name: string;
  readonly provider: string;
  readonly min: number;
  readonly max?: number;
  readonly cost?: string;
  readonly desired: number;
  readonly available: number;
  readonly state: string;
  readonly message?: string;
}

/** What is worth showing of an object beside its conditions; which of it is there depends on the kind. */
export interface ObjectFacts {
  readonly desired?: number;
  readonly ready?: number;
  readonly available?: number;
  readonly version?: string;
  readonly phase?: string;
  readonly node?: string;
  readonly providerID?: string;
  readonly addresses?: readonly string[];
  readonly failureDomain?: string;
  readonly endpoint?: string;
  readonly strategy?: string;
  readonly members?: readonly PoolMember[];
  readonly paused?: boolean;
  /** Of a host that exists in memory alone. */
  readonly simulated?: SimulatedHealth;
}

/** Hosts in memory can be broken on request, to see what happens. */
export type SimulatedHealth = "well" | "broken";

/** An object of a cluster. */
export interface ObjectItem {
  readonly type: "object";
  readonly id: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  /** The object it is a part of. */
  readonly parent?: string;
  /** Short name of the provider, for infrastructure. */
  readonly provider?: string;
  readonly conditions: readonly Condition[];
  readonly deleting: boolean;
  readonly created: string;
  readonly facts: ObjectFacts;
  /** The state of the object with its parts. */
  readonly state: ObjectState;
  /** Of the Cluster: every cause of its state, most severe first. */
  readonly causes?: readonly Explanation[];
}

/** Something that happened: an Event, or a condition that changed. */
export interface TimelineItem {
  readonly type: "event" | "change";
  readonly at: string;
  readonly kind: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  readonly warning: boolean;
  readonly count?: number;
}

/** An item of a cluster's topic. */
export type ClusterItem = ObjectItem | TimelineItem;

/** A host of your own or a bare-metal host. */
export interface HostRow {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly provider: string;
  /** Free, In use, Provisioning …: one word for the table. */
  readonly state: string;
  readonly ready: Condition["status"];
  readonly health: ObjectState;
  readonly machine?: string;
  readonly cluster?: string;
  readonly system?: string;
  readonly architecture?: string;
  readonly cpus?: number;
  readonly memoryMiB?: number;
  readonly addresses: readonly string[];
  readonly heartbeat?: string;
  readonly created: string;
  /** Of a host that exists in memory alone. */
  readonly simulated?: SimulatedHealth;
}

/** What changed in a topic; an event of the stream is an array of these. `reset`: forget what you had. */
export interface StreamMessage<T = unknown> {
  readonly topic: string;
  readonly reset?: true;
  readonly set: readonly (readonly [key: string, item: T])[];
  readonly del: readonly string[];
}

/** Who is signed in. */
export interface SessionInfo {
  readonly user: string;
  readonly groups: readonly string[];
  readonly expires: string;
  readonly version: string;
  /** Whether a client certificate is another way to sign in here. */
  readonly certificates: boolean;
  readonly clusters: ClusterAccess;
}

/** In how many namespaces somebody may do something. */
export type Reach = "everywhere" | "somewhere" | "nowhere";

/** Where somebody may see and create clusters. */
export interface ClusterAccess {
  readonly see: Reach;
  readonly create: Reach;
}
