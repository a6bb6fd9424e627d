import type { ProviderName } from "./worker-providers.ts";

/** A cluster as somebody asked for it, by flags, prompts or the wizard. */
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
  /** Makes the groups members of one WorkerPool, whose replicas are spread over them. */
  pool?: PoolPlan;
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
  provider: ProviderName;
  replicas: number;
  /** Labels a host must have. */
  select: Record<string, string>;
  /** What else the provider takes. */
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
