import type { Transport, Unstructured } from "@capstan/apimachinery";
import type { Authorities, ClusterNetwork } from "@capstan/controlplane";
import type { EncryptionKey } from "../encryption.ts";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";

/** Runs the components of a control plane in one kind of place. All functions must be idempotent. */
export interface Placement {
  /**
   * The address of the API, reserved before anything starts, so that nobody waits for anybody: certificates, infrastructure and
   * nodes all need it. The same answer every time.
   */
  reserve(request: ReserveRequest): Promise<Reservation>;
  /** Runs the components as planned and returns their state. */
  ensure(plan: ControlPlanePlan): Promise<PlacementState>;
  /** How the components are that run, whatever they should be: nothing is changed. */
  observe(owner: string, placed: PlacedObject): Promise<PlacementState>;
  /** Stops the components and keeps the data. */
  hibernate(owner: string, placed: PlacedObject): Promise<PlacementState>;
  /** Takes everything away. Returns what is still there, nothing when done. */
  remove(owner: string, placed: PlacedObject): Promise<string[]>;
  /** Saves a snapshot of etcd's data to a file, where the placement can. */
  snapshot?(plan: ControlPlanePlan, file: string): Promise<void>;
  /** Calls back when a component of an owner changes. Returns a function that unsubscribes. */
  subscribe(listener: (owner: string) => void): () => void;
  /** How an API is reached that is not simply at its endpoint. */
  access?(owner: string): PlacementAccess;
  /** The cluster's own authority signs everything: no others are made. */
  readonly singleAuthority?: boolean;
}

/** How to reach an API that shares its endpoint with others. */
export interface PlacementAccess {
  /** Path of the API. */
  path: string;
  /** Name in its certificate, which clients verify instead of the endpoint's host. */
  serverName: string;
  /** A connection as administrator, in process. */
  connect(): Transport;
  /** Stores what is missing of these objects in a new API. */
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
  /** Of the HostedControlPlane: data of an earlier one of that name is not taken for its own. */
  objectUid?: string;
  /** Whether such data may be thrown away. */
  discardLeftovers?: boolean;
  spec: HostedControlPlaneSpec;
  /** An endpoint that is already fixed, by the user or by an earlier pass. */
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
  /** It has served before: where no data is found, some was lost. */
  initialized?: boolean;
  /** A backup that the data is to come from. */
  restore?: { name: string; snapshotFile(): Promise<string> };
  /** Asked once before an upgrade begins: what keeps it from that, with the cure. */
  upgradeRefusal?(): { reason: string; message: string } | undefined;
  /** Takes a backup before an upgrade changes anything, and returns its name. */
  backUp?(label: string): Promise<string>;
  /** A backup of this control plane as a local file. */
  openBackup?(name: string): Promise<string>;
  /** With what data is encrypted at rest, when it is or once was. */
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
  /** Whether kube-apiserver answers. */
  apiReady: boolean;
  /** The version that serves. */
  version?: string;
  /** Where agents of konnectivity find their servers, when there are some. */
  konnectivity?: { host: string; port: number };
  /** kube-apiservers that answer. */
  readyReplicas?: number;
  /** What is wrong with etcd although its members answer. */
  etcd?: { reason: string; message: string };
  /** Set while the running version or configuration is not the desired one. */
  upgrade?: { reason: string; message: string };
  /** When to look again although nothing has changed, milliseconds since the epoch. */
  recheckAtMs?: number;
}
