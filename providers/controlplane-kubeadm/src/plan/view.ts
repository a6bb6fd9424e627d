/** A condition of a component, as far as decisions depend on it. */
export interface Health {
  readonly status: "True" | "False" | "Unknown";
  readonly reason?: string;
  readonly message: string;
}

/** The conditions that a control plane Machine's components are judged by. */
export interface Components {
  readonly apiServer: Health;
  readonly controllerManager: Health;
  readonly scheduler: Health;
  readonly etcdPod: Health;
  readonly etcdMember: Health;
  readonly nodeLabels: Health;
}

/** A remediation as the annotations `remediation-in-progress` and `remediation-for` record it. */
export interface RemediationRecord {
  /** The Machine that was deleted. */
  readonly machine: string;
  readonly timeMs: number;
  readonly retryCount: number;
}

/** A control plane Machine. */
export interface MachineView {
  readonly name: string;
  readonly createdMs: number;
  readonly deletingSinceMs: number | undefined;
  readonly failureDomain: string | undefined;
  /** Name of its Node from status.nodeRef: the only link to its static pods and its etcd member. */
  readonly nodeName: string | undefined;
  readonly upToDate: boolean;
  /** Verdict of a MachineHealthCheck. */
  readonly healthCheck: "passed" | "failed" | "none";
  /** The health check waits for its owner: OwnerRemediated is False. */
  readonly awaitsRemediation: boolean;
  /** A person requested the remediation with the annotation `remediate-machine`. */
  readonly remediateAnnotation: boolean;
  readonly deleteAnnotation: boolean;
  /** The remediation that this Machine replaces another one for. */
  readonly remediationFor: RemediationRecord | undefined;
  readonly components: Components;
  readonly hooks: {
    /** The pre-terminate hook of the control plane is set. */
    readonly ours: boolean;
    /** Pre-terminate hooks of other owners are set. */
    readonly others: boolean;
    /** The Machine controller has drained the Node and waits for the pre-terminate hooks. */
    readonly waiting: boolean;
  };
}

/** A member in etcd's own list. */
export interface MemberView {
  readonly id: string;
  /** Empty until it has started for the first time. */
  readonly name: string;
  /** Name of the Node that it runs on; undefined if no Node belongs to it. */
  readonly nodeName: string | undefined;
  readonly learner: boolean;
  readonly leader: boolean;
  readonly alarms: readonly string[];
  /** It answered itself in this observation. */
  readonly answered?: boolean | undefined;
}

/** A failure domain of the Cluster. */
export interface DomainView {
  readonly name: string;
  readonly controlPlane: boolean;
}

/** Everything that the next step of a control plane follows from. */
export interface ControlPlaneView {
  readonly nowMs: number;
  /** Namespace of the Machines, for commands in messages. */
  readonly namespace: string;
  readonly replicas: number;
  readonly version: string;
  readonly maxSurge: number;
  readonly initialized: boolean;
  readonly etcdManaged: boolean;
  readonly certificatesAvailable: boolean;
  readonly machines: readonly MachineView[];
  /** etcd's list of members; a reason if it is unknown. */
  readonly members: readonly MemberView[] | { readonly unknown: string };
  /** Names of Nodes that registered so recently that their etcd may not have started yet. */
  readonly youngNodes: ReadonlySet<string>;
  readonly failureDomains: readonly DomainView[];
  /** What a managed topology has decided about the version. */
  readonly topology: { readonly version: string; readonly upgradeStep: string | undefined } | undefined;
  readonly remediation: {
    readonly maxRetry: number | undefined;
    readonly retryPeriodMs: number;
    readonly minHealthyPeriodMs: number;
    readonly inProgress: RemediationRecord | undefined;
  };
  readonly deleting: boolean;
  /** Machines and MachinePools that have to be deleted before the control plane. */
  readonly workersLeft: readonly string[];
}

/** The member that runs on a Machine's Node; undefined if it is unknown or there is none. */
export function memberOf(view: ControlPlaneView, machine: MachineView): MemberView | undefined {
  if (machine.nodeName === undefined || "unknown" in view.members) return undefined;
  return view.members.find(({ nodeName }) => nodeName === machine.nodeName);
}

/** Members that run on no Node of a Machine: those of nobody, or of Machines whose Node is not recorded. */
export function strayMembers({ members, machines }: ControlPlaneView): MemberView[] {
  if ("unknown" in members) return [];
  const nodes = new Set(machines.map(({ nodeName }) => nodeName));
  return members.filter(({ nodeName }) => nodeName === undefined || !nodes.has(nodeName));
}

/** The Machine whose Node a member runs on. */
export function machineOf(view: ControlPlaneView, member: MemberView): MachineView | undefined {
  if (member.nodeName === undefined) return undefined;
  return view.machines.find(({ nodeName }) => nodeName === member.nodeName);
}

/** Whether a Machine is being deleted. */
export const isDeleting = ({ deletingSinceMs }: MachineView): boolean => deletingSinceMs !== undefined;
