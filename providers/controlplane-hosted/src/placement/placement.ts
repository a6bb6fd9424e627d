import type { Transport, Unstructured } from "@capstan/apimachinery";
import type { Authorities, ClusterNetwork } from "@capstan/controlplane";
import type { EncryptionKey } from "../encryption.ts";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";

/** Runs the components of a control plane in one kind of place. All functions must be idempotent. */
export interface Placement {
  /**
   * Reserves the API endpoint before anything starts, because certificates, infrastructure and nodes all need it. Repeated calls return
   * the same endpoint.
   */
  reserve(request: ReserveRequest): Promise<Reservation>;
  /** Runs the components as planned and returns their state. */
  ensure(plan: ControlPlanePlan): Promise<PlacementState>;
  /** Returns the state of the running components without changing anything. */
  observe(owner: string, placed: PlacedObject): Promise<PlacementState>;
  /** Stops the components and keeps the data. */
  hibernate(owner: string, placed: PlacedObject): Promise<PlacementState>;
  /** Deletes everything. Returns what still exists; empty when done. */
  remove(owner: string, placed: PlacedObject): Promise<string[]>;
  /** Saves a snapshot of etcd's data to a file, if the placement supports it. */
  snapshot?(plan: ControlPlanePlan, file: string): Promise<void>;
  /** Calls back when a component of an owner changes. Returns a function that unsubscribes. */
  subscribe(listener: (owner: string) => void): () => void;
  /** Returns how to reach an API that shares its endpoint with others. */
  access?(owner: string): PlacementAccess;
  /** Whether the cluster CA signs everything, so that no other CAs are created. */
  readonly singleAuthority?: boolean;
}

/** How to reach an API that shares its endpoint with others. */
export interface PlacementAccess {
  /** Path of the API. */
  path: string;
  /** Name in its certificate, which clients verify instead of the endpoint's host. */
  serverName: string;
  /** Opens a connection as administrator, in process. */
  connect(): Transport;
  /** Creates those of these objects that are missing in a new API. */
  fill(objects: readonly Unstructured[]): Promise<void>;
}

/** What a placement needs to know about a HostedControlPlane to stop or remove it. */
export interface PlacedObject {
  spec: HostedControlPlaneSpec;
  objectUid?: string;
  /** When its deletion was requested; the placement gives up on an unresponsive cluster some time after. */
  deletingSinceMs?: number;
}

/** A request to reserve the API endpoint of a control plane. */
export interface ReserveRequest {
  /** `NAMESPACE/NAME` of the HostedControlPlane. */
  owner: string;
  /** UID of the HostedControlPlane, so that data of an earlier one of the same name is not used. */
  objectUid?: string;
  /** Whether data of an earlier one may be deleted. */
  discardLeftovers?: boolean;
  spec: HostedControlPlaneSpec;
  /** An endpoint that is already set, by the user or by an earlier reconcile. */
  endpoint: { host: string; port: number } | undefined;
}

/** The reserved endpoint, or why there is none yet. */
export type Reservation =
  | { type: "reserved"; endpoint: { host: string; port: number } }
  | { type: "wait"; reason: string; message: string }
  | { type: "failed"; reason: string; message: string };

/** Everything that a placement needs to run a control plane. */
export interface ControlPlanePlan {
  owner: string;
  objectUid?: string;
  clusterName: string;
  spec: HostedControlPlaneSpec;
  version: string;
  endpoint: { host: string; port: number };
  network: ClusterNetwork;
  authorities: Authorities;
  /** Whether it has served before; missing data then means data loss. */
  initialized?: boolean;
  /** A backup to restore the data from. */
  restore?: { name: string; snapshotFile(): Promise<string> };
  /** Called once before an upgrade starts; returns why it must not, and what to do. */
  upgradeRefusal?(): { reason: string; message: string } | undefined;
  /** Takes a backup before an upgrade changes anything, and returns its name. */
  backUp?(label: string): Promise<string>;
  /** Returns a backup of this control plane as a local file. */
  openBackup?(name: string): Promise<string>;
  /** The key for encryption at rest, if it is or was enabled. */
  encryption?: EncryptionKey;
  /** Files of `spec.<component>.files`, read from their Secrets, and the encryption keys of kube-apiserver. */
  userFiles: Record<"apiServer" | "controllerManager" | "scheduler", Record<string, string>>;
}

/** Observed state of a component. */
export interface ComponentState {
  name: string;
  ready: boolean;
  /** Why it is not ready, as reported by the component if possible. */
  message: string;
  restarts: number;
}

/** Observed state of a control plane in its placement. */
export interface PlacementState {
  /** Set if nothing can run until the user acts. */
  problem?: { reason: string; message: string };
  components: ComponentState[];
  /** Whether kube-apiserver responds. */
  apiReady: boolean;
  /** The serving version. */
  version?: string;
  /** Address of the konnectivity servers for agents, if there are any. */
  konnectivity?: { host: string; port: number };
  /** Number of kube-apiservers that respond. */
  readyReplicas?: number;
  /** A problem of etcd although its members respond. */
  etcd?: { reason: string; message: string };
  /** Set while the running version or configuration is not the desired one. */
  upgrade?: { reason: string; message: string };
  /** When to check again even if nothing has changed, in milliseconds since the epoch. */
  recheckAtMs?: number;
}
