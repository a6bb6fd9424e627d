import type { Condition, Unstructured } from "@capstan/apimachinery";
import type {
  Activity,
  Explanation,
  ObjectState,
  ProviderBadge,
  Shortage,
  SimulatedHost,
  WorkerOption,
} from "@capstan/capi";

/** What the dashboard and its server exchange. The dashboard imports these types only. */

/** Type and status of a condition, shown as one chip in the fleet table. */
export type Chip = readonly [type: string, status: Condition["status"]];

/** Available and desired replicas. */
export type Counts = readonly [available: number, desired: number];

/** Where new control planes run by default, and which Kubernetes versions the manager's machine can run. */
export interface ControlPlaneHome {
  /** Placement of control planes that specify none. */
  readonly placement: "Process" | "Pods";
  /** Kubernetes versions installed on the manager's machine, oldest first, which control planes as processes can run. */
  readonly versions: readonly string[];
}

/** One row of the fleet table. */
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

/** One member of a WorkerPool with its share of the replicas. */
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

/** What the dashboard shows of an object in addition to its conditions; the fields depend on the kind. */
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
  /** Set for a host that exists in memory only. */
  readonly simulated?: SimulatedHost;
}

/** What the dashboard shows and offers of a provider. */
export interface ProviderInfo {
  readonly name: string;
  readonly title: string;
  readonly badge?: ProviderBadge;
  /** What the wizard offers, of a provider that gives machines to workers. */
  readonly workers?: WorkerInfo;
}

/** What the wizard offers of a provider. */
export interface WorkerInfo extends Pick<WorkerOption, "summary" | "templateKind" | "settings"> {
  readonly inMemory: boolean;
}

/** What a plan amounts to. */
export interface PlannedCluster {
  readonly objects: readonly Unstructured[];
  /** What will probably fail, in one sentence each. */
  readonly warnings: readonly string[];
  /** Groups that would wait for hosts; empty also when the user may not list them, so that the number of free hosts is unknown. */
  readonly shortages: readonly Shortage[];
}

/** An object of a cluster, as the dashboard receives it. */
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
  /** Of the Cluster: what its control plane does with its Machines, and since when. */
  readonly activities?: readonly Activity[];
}

/** An entry of the timeline: an Event, or a condition that changed. */
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

/** A bring-your-own or bare-metal host in the inventory. */
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
  /** Set for a host that exists in memory only. */
  readonly simulated?: SimulatedHost;
}

/** A change of a topic; each stream event carries an array of these. `reset` makes the client drop its state first. */
export interface StreamMessage<T = unknown> {
  readonly topic: string;
  readonly reset?: true;
  readonly set: readonly (readonly [key: string, item: T])[];
  readonly del: readonly string[];
}

/** The signed-in user. */
export interface SessionInfo {
  readonly user: string;
  readonly groups: readonly string[];
  readonly expires: string;
  readonly version: string;
  /** Whether a client certificate is another way to sign in here. */
  readonly certificates: boolean;
  readonly clusters: ClusterAccess;
}

/** Whether a user may do something in all namespaces, in some, or in none. */
export type Reach = "everywhere" | "somewhere" | "nowhere";

/** Where a user may see and create clusters. */
export interface ClusterAccess {
  readonly see: Reach;
  readonly create: Reach;
}
