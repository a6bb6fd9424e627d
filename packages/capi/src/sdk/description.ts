import type { Condition, KubeObject, Unstructured } from "@capstan/apimachinery";
import type { RemedyRule } from "../explain/remedies.ts";
import type { Cause } from "../explain/why.ts";
import type { ClusterPlan } from "../plan/cluster-plan.ts";
import type { ReasonCatalogue } from "./reasons.ts";

/**
 * What the command line, `why` and the dashboard know about a provider. It is part of its `Provider` value and costs nothing to load: no
 * controllers, no clients.
 */
export interface ProviderDescription {
  /** Short name, such as `byoh`: `create` takes it, and controllers and field managers are named after it. */
  readonly name: string;
  /** Name for people, such as `Bare metal`. */
  readonly title: string;
  /** How the dashboard marks its objects; without one they have the title and no colour. */
  readonly badge?: ProviderBadge;
  /** What `create` and the wizard offer, of a provider that gives machines to workers. */
  readonly workers?: WorkerOption;
  /** What `create` makes of a control plane, of a provider that has one. */
  readonly controlPlane?: ControlPlaneOption;
  /** What `create` makes of several providers in one cluster, of a provider that combines them. */
  readonly combines?: CombiningOption;
  /** Templates of whole clusters, in addition to the one that follows from `workers`. */
  readonly quickStart?: QuickStart;
  /** Kinds of another project whose objects `capstan convert` reads. */
  readonly olderKinds?: OlderKinds;
  /** Kinds of hosts: machines that exist before any Machine uses them. */
  readonly hosts?: readonly HostKind[];
  /** What `why` knows about its objects in addition to what holds for all. */
  readonly why?: WhyRules;
  /** Loads the reasons that its conditions have, for the generated reference. */
  reasons?(): Promise<ReasonCatalogue>;
}

/** Kinds of another project, and what they become. */
export interface OlderKinds {
  readonly group: string;
  /** API version of what they become, for references to them. */
  readonly to: string;
  /** Converts an object; `warnings` names what has no counterpart. */
  convert(object: Unstructured): { readonly object: Unstructured; readonly warnings: readonly string[] };
}

/** Templates that a provider writes itself. */
export interface QuickStart {
  /** Their files in a clusterctl repository are `cluster-template-PREFIX[-FLAVOR].yaml`. */
  readonly prefix: string;
  /** By flavor: `default` is used when none is named. */
  readonly flavors: Readonly<Record<string, string>>;
}

/** The mark of a provider in the dashboard. */
export interface ProviderBadge {
  readonly label: string;
  /** A colour of CSS, such as `#0c8599`. */
  readonly color: string;
}

/** A setting of a worker group that only one provider takes. */
export interface WorkerSetting {
  readonly summary: string;
  readonly required?: boolean;
  /** What forms and prompts fill in. */
  readonly usual?: string;
  /** What templates of clusters fill in, such as `${IMAGE_URL}`. */
  readonly template?: string;
}

/** Labels that hosts must have, and the provider's own settings, of one worker group. */
export interface WorkerChoice {
  readonly select: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string>>;
}

/** The templates of clusters that a provider is part of, as clusterctl names them: `cluster-template-FLAVOR.yaml`. */
export interface WorkerTemplates {
  /** The flavor with its machines alone; empty for the template without a flavor. */
  readonly flavor: string;
  /** Its group in the flavor `mixed`, and how many machines that has: a number, or a variable such as `${COUNT:=1}`. */
  readonly mixed?: { readonly group: string; readonly count: string };
}

/** What a provider offers to worker groups: the settings it takes, and the objects it makes of them. */
export interface WorkerOption {
  readonly summary: string;
  /** Kinds in the group `infrastructure.cluster.x-k8s.io`. */
  readonly clusterKind: string;
  readonly templateKind: string;
  readonly settings: Readonly<Record<string, WorkerSetting>>;
  /** Its machines exist in the manager's memory only, and their Nodes with them: no control plane has to run programs for them. */
  readonly inMemory?: boolean;
  /** Kind of the hosts it chooses from, one of `hosts`; absent where machines are made as needed. */
  readonly hostKind?: string;
  /** The templates of clusters in a clusterctl repository that it is part of. */
  readonly templates?: WorkerTemplates;
  /** Spec of the infrastructure cluster. */
  readonly clusterSpec: object;
  /** How its nodes register, where that is not the same everywhere. */
  readonly nodeRegistration?: object;
  /** Spec of one machine. */
  machineSpec(choice: WorkerChoice): object;
  /** What will probably fail with these settings, in one sentence; undefined when nothing will. */
  warning?(settings: WorkerChoice["settings"]): string | undefined;
}

/** A reference to the infrastructure cluster of one provider, in a cluster with several. */
export interface CombinedInfrastructure {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
  /** Set for the one whose machines run the control plane. */
  readonly controlPlane?: true;
}

/** How a provider combines the infrastructure of others under one Cluster. */
export interface CombiningOption {
  /** Kind in the group `infrastructure.cluster.x-k8s.io` that a Cluster refers to in place of theirs. */
  readonly clusterKind: string;
  /** Spec of that object over these infrastructure clusters. */
  clusterSpec(infrastructures: readonly CombinedInfrastructure[]): object;
}

/** What a provider offers as a control plane. */
export interface ControlPlaneOption {
  /** What `create --control-plane` takes, such as `hosted`. */
  readonly name: string;
  readonly summary: string;
  /** It runs on Machines, which a provider of workers gives to it. */
  readonly onMachines?: boolean;
  /** Kind in the group `controlplane.cluster.x-k8s.io`. */
  readonly kind: string;
  /** The placement that exists in the manager's memory only; it is the default for a cluster whose workers do, too. */
  readonly inMemoryPlacement?: string;
  /** Its object requests, lists and restores backups itself. Backups of others are ControlPlaneBackup objects. */
  readonly ownBackups?: boolean;
  /** Whether a control plane runs programs that have to be installed on the manager's machine. */
  needsPrograms?(controlPlane: KubeObject): boolean;
  /** Spec of the control plane of a planned cluster. */
  spec(plan: ClusterPlan): object;
}

/** A kind of hosts that a provider chooses from. */
export interface HostKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  /** Kind of the infrastructure machine that claims a host, and the field of the host's spec that names it. */
  readonly claimedBy: { readonly kind: string; readonly field: string };
  /** Shows when the agents of hosts last reported, such as `capstan host list`; absent where no agent reports on a host. */
  readonly reports?: string;
  /** What a person does to have one more. */
  readonly cure: string;
  /** The command that does it, where there is one. */
  readonly command?: string;
  /** Whether a machine could have the host now. */
  isFree(host: KubeObject): boolean;
  /** What lists of hosts show of one, in addition to what all objects have. */
  row(host: KubeObject): HostFacts;
  /** A problem of a host that its own Ready condition does not show, as the Ready condition to show in its place. */
  trouble(host: KubeObject, nowMs: number): Condition | undefined;
  /** When a host without trouble gets some, unless it changes before. */
  troubleAtMs?(host: KubeObject, nowMs: number): number | undefined;
  /** The conditions that a host without trouble is judged by, if not all that it reports. */
  conditions?(host: KubeObject): Condition[];
  /** How a host that exists in memory only is broken on request. */
  readonly simulation?: HostSimulation;
}

/** What lists show of a host. */
export interface HostFacts {
  /** Free, In use, Provisioning …: one word for the table. */
  readonly state: string;
  /** Whether it is usable, where its Ready condition does not say so. */
  readonly ready?: Condition["status"] | undefined;
  readonly machine?: string | undefined;
  /** Its operating system, or its maker and model. */
  readonly system?: string | undefined;
  readonly architecture?: string | undefined;
  readonly cpus?: number | undefined;
  readonly memoryMiB?: number | undefined;
  readonly addresses: readonly string[];
  /** When its agent last reported. */
  readonly heartbeat?: string | undefined;
}

/** How hosts of a kind are simulated, for demos and tests. */
export interface HostSimulation {
  /** What breaking a host does, such as `it stops reporting, and so does its Node`. */
  readonly effect: string;
  /** Whether a simulated host was broken on request; undefined for a real one. */
  health(host: KubeObject): SimulatedHealth | undefined;
  /** The annotations that break a simulated host or repair it; null removes one. */
  annotations(broken: boolean): Readonly<Record<string, string | null>>;
  /** Builds so many simulated hosts, with all that they need. */
  objects(namespace: string, count: number): Unstructured[];
}

/** Health of a simulated host, which users can break and repair. */
export type SimulatedHealth = "well" | "broken";

/** What `why` knows about the objects of one provider. */
export interface WhyRules {
  /** What causes mean to a person. They are asked before the rules for all providers; the first match counts. */
  readonly remedies?: readonly RemedyRule[];
  /** Reasons, in addition to InsufficientCapacity, for which a machine waits for capacity. */
  readonly capacityReasons?: readonly string[];
  /** The first step when a machine of this provider finds no capacity. */
  readonly capacityCure?: string;
  /** How long objects of a kind may show no progress before that is a fault, in milliseconds by kind. */
  readonly patienceMs?: Readonly<Record<string, number>>;
  /** Whether a cause never goes away by waiting. */
  isFault?(cause: Cause): boolean;
}
