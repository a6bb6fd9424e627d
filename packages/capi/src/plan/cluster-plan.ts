/** A cluster as requested with flags, prompts or the wizard. */
export interface ClusterPlan {
  name: string;
  namespace: string;
  version: string;
  placement?: string;
  replicas?: number;
  endpoint?: { host: string; port: number };
  podCidrs: string[];
  serviceCidrs: string[];
  labels: Record<string, string>;
  workers: WorkerGroup[];
  /** A control plane on Machines; a hosted one if absent. */
  controlPlane?: ControlPlanePlan;
  /** Makes the groups members of one WorkerPool, whose replicas are spread over them. */
  pool?: PoolPlan;
}

/** A control plane on Machines, and where these come from. */
export interface ControlPlanePlan {
  /** Name of the option, such as `kubeadm`. */
  type: string;
  /** Its Machines, as a group whose name becomes a part of their template's name. */
  machines: WorkerGroup;
}

/** Name of the group that the Machines of a control plane form. */
export const CONTROL_PLANE_GROUP = "control-plane";

/** All groups of machines of a plan, those of the control plane first. */
export function machineGroups({ controlPlane, workers }: Pick<ClusterPlan, "controlPlane" | "workers">): WorkerGroup[] {
  return controlPlane === undefined ? workers : [controlPlane.machines, ...workers];
}

/** How replicas are spread over groups. */
export interface PoolPlan {
  name: string;
  replicas: number;
  strategy: PoolStrategy;
}

/** Which member of a pool comes first. */
export type PoolStrategy = (typeof POOL_STRATEGIES)[number];

/** The strategies of a WorkerPool. */
export const POOL_STRATEGIES = ["Cheapest", "Ordered", "Weighted"] as const;

/** Workers of one kind. */
export interface WorkerGroup {
  name: string;
  /** Short name of the provider. */
  provider: string;
  replicas: number;
  /** Labels a host must have. */
  select: Record<string, string>;
  /** Other settings of the provider. */
  settings: Record<string, string>;
  /** As a member of a pool: its limits and what counts for its strategy. */
  share?: PoolShare;
}

/** A group's part in a pool. */
export interface PoolShare {
  min?: number;
  max?: number;
  cost?: string;
  weight?: number;
}
