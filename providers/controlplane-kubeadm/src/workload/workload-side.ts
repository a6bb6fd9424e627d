import type { ClusterKey, KubeadmConfig, KubeadmControlPlane, Machine } from "@capstan/capi";
import type { ReconcileContext } from "@capstan/runtime";
import type { Components, Health, MemberView } from "../plan/view.ts";

/** The control plane whose workload cluster is observed or changed. */
export interface PlaneTarget {
  readonly cluster: ClusterKey;
  readonly controlPlane: KubeadmControlPlane;
  /** All control plane Machines that the object owns, those in deletion included. */
  readonly machines: readonly Machine[];
  /** The KubeadmConfigs of the Machines, by name of the Machine; one that is not there is treated as unknown. */
  readonly kubeadmConfigs: ReadonlyMap<string, KubeadmConfig>;
  /** False with external etcd: its members are not looked at. */
  readonly etcdManaged: boolean;
}

/** A component's condition as it is reported on a Machine. */
export interface ReportedHealth extends Health {
  readonly reason: string;
}

/** What the workload cluster shows of a Machine; without a Node everything is unknown. */
export interface MachineObservation {
  readonly components: { readonly [K in keyof Components]: ReportedHealth };
  /** End of validity of the API server's certificate, as the annotation on the KubeadmConfig records it. */
  readonly certificatesExpireMs?: number | undefined;
}

/** A member of etcd and what its own status says. */
export interface ObservedMember extends MemberView {
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly dbSize?: number | undefined;
}

/** The workload side of a control plane at one moment. */
export interface WorkloadObservation {
  /** Why the workload cluster cannot be reached; undefined if it can. */
  readonly unreachable: string | undefined;
  /** Why the cluster's endpoint does not answer although the API does, at the Machines. */
  readonly endpointDown?: string | undefined;
  /** The ConfigMap kubeadm-config exists: `kubeadm init` has finished. Unknown while unreachable. */
  readonly initialized: boolean | undefined;
  /** By name of the Machine; all Machines of the target are in it. */
  readonly machines: ReadonlyMap<string, MachineObservation>;
  readonly members: readonly ObservedMember[] | { readonly unknown: string };
  /** Nodes that registered so recently that their etcd may not have started yet. */
  readonly youngNodes: ReadonlySet<string>;
  /** What makes etcd unreliable although its members are healthy, with its cure. */
  readonly etcdTrouble: WorkloadProblem | undefined;
  /** Nodes with the control plane label that belong to no Machine of the target. */
  readonly strayNodes: readonly string[];
  /** When to observe again at the latest: nothing that changes in etcd is watched. */
  readonly recheckMs: number;
}

/** 99th percentiles of one member in seconds, over the time between the last two questions; undefined while nothing was measured. */
export interface MemberLatency {
  /** Of a sync of its disk. */
  readonly fsyncSeconds: number | undefined;
  /** Of the way to another member and back. */
  readonly peerSeconds: number | undefined;
}

/** Figures of the etcd of one cluster, for metrics. */
export interface EtcdReport {
  readonly cluster: ClusterKey;
  /** Leader changes within the last ten minutes that nobody requested. */
  readonly leaderChanges: number;
  /** By the name of the Node. */
  readonly latencies: ReadonlyMap<string, MemberLatency>;
}

/** How a workload cluster is observed. */
export interface ObserveOptions {
  /** Members are about to change: what etcd answered a while ago does not count. */
  readonly fresh?: boolean;
}

/** Why a part of the workload cluster could not be brought up to date; the next reconcile tries again. */
export interface WorkloadProblem {
  readonly reason: string;
  readonly message: string;
}

/**
 * What a control plane reads from and writes to its workload cluster. The reconciler plans on the observation; only these calls talk to
 * the workload cluster and to etcd. Calls that fail reject with an error that a person can read.
 */
export interface WorkloadSide {
  /**
   * Reads watches, and etcd only if something changed, the last answer is old, or `fresh` asks for it. Never rejects because of the
   * workload cluster.
   */
  observe(target: PlaneTarget, context: ReconcileContext, options?: ObserveOptions): Promise<WorkloadObservation>;
  /** Writes kubeadm-config, kubelet permissions and kubeadm's RBAC for the desired version; before a Machine joins or is replaced. */
  prepareRollout(target: PlaneTarget, context: ReconcileContext): Promise<void>;
  /** kube-proxy, CoreDNS with its Corefile, when nothing else is pending. Returns what could not be done. */
  updateAddons(target: PlaneTarget, context: ReconcileContext): Promise<WorkloadProblem | undefined>;
  /** Keeps etcd from running out of space: defragments members, and ends an alarm that this cures. */
  keepSpace(target: PlaneTarget): Promise<void>;
  /** Removes a member; its leadership goes to the first of `moveLeaderTo` that accepts. Succeeds if the member is not there any more. */
  removeMember(target: PlaneTarget, memberId: string, moveLeaderTo: readonly string[]): Promise<void>;
  /** Moves the leadership to the first member of the list that accepts. */
  moveLeader(target: PlaneTarget, to: readonly string[]): Promise<void>;
  /** Deletes the control plane Nodes that belong to no Machine of the target, as restored data has them. Rejects if the API does not answer. */
  removeStrayNodes(target: PlaneTarget): Promise<void>;
  /** Calls back when a static pod, a Node or the kubeadm-config of a cluster changes. Returns a function that unsubscribes. */
  subscribe(listener: (cluster: ClusterKey) => void): () => void;
  /** The figures of every etcd that has been asked. */
  etcdReports(): readonly EtcdReport[];
  /** Forgets a cluster: closes watches and connections. */
  forget(cluster: ClusterKey): void;
}
