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
}

/** Workers of one kind. */
export interface WorkerGroup {
  name: string;
  provider: ProviderName;
  replicas: number;
  /** Labels a host must have. */
  select: Record<string, string>;
  /** What else the provider takes. */
  settings: Record<string, string>;
}
