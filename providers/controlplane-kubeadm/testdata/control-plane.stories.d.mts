/** What a step of a story waits for; without it, until nothing is left to do. */
export interface Until {
  /** Only until there are so many Machines of the control plane. */
  machines?: number;
  deleting?: number;
  withoutNode?: number;
  /** Until etcd lists so many members of Machines. */
  members?: number;
  /** Until so many Machines have a Node, also before there is a control plane. */
  nodes?: number;
  /** Until nothing happens for a while. */
  quiet?: boolean;
  /** Until the Cluster and all Machines are deleted. */
  deleted?: boolean;
  /** Until a condition of the control plane has a status. */
  condition?: string;
  status?: string;
}

/** What a person does, or what goes wrong. */
export interface Step {
  scale?: number;
  /** A merge patch of the control plane's spec. */
  patch?: object;
  annotate?: string;
  annotations?: Record<string, string>;
  rolloutAfterMs?: number;
  expires?: string;
  days?: number;
  deleteMachine?: string;
  pause?: boolean;
  deleteCluster?: boolean;
  deleteControlPlane?: boolean;
  component?: string;
  machine?: string;
  ready?: boolean;
  ghost?: string;
  /** Creates the control plane of Machines that stand alone. */
  adopt?: boolean;
  /** A merge patch of the Cluster's topology. */
  topology?: object;
  until?: Until;
}

/** A control plane, what happens to it, and what is waited for. */
export interface Story {
  replicas: number;
  version?: string;
  template?: string;
  workers?: number;
  domains?: { name: string; controlPlane: boolean }[];
  kubeadmConfigSpec?: object;
  /** More of the control plane's spec. */
  spec?: object;
  /** A MachineHealthCheck: only what a person marks is unhealthy. */
  healthCheck?: boolean;
  /** Without a control plane at first: a Machine that a person wrote. */
  alone?: boolean;
  /** The Cluster has a class. */
  topology?: boolean;
  /** Name of a template whose machines never start. */
  slow?: string;
  start?: Until;
  steps?: Step[];
}

export declare const STORIES: Readonly<Record<string, Story>>;
export declare const DEFAULTS: { readonly version: string; readonly template: string };
