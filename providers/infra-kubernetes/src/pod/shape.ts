/** A PodSpec as a person wrote it; the API server of the outer cluster checks what is not looked at here. */
export interface PodSpec {
  [field: string]: unknown;
  containers?: Container[];
  initContainers?: Container[];
  volumes?: Volume[];
  affinity?: { nodeAffinity?: NodeAffinity; [field: string]: unknown };
}

/** A container of a PodSpec. */
export interface Container {
  [field: string]: unknown;
  name: string;
  env?: unknown[];
  ports?: { name?: string }[];
  resources?: Resources;
  securityContext?: SecurityContext;
  volumeMounts?: VolumeMount[];
}

/** Requests and limits of a container. */
export interface Resources {
  requests?: Record<string, string | number>;
  limits?: Record<string, string | number>;
  claims?: unknown;
}

/** What a container may do. */
export interface SecurityContext {
  [field: string]: unknown;
  privileged?: boolean;
  capabilities?: { add?: string[]; drop?: string[] };
  procMount?: string;
  seccompProfile?: { type?: string };
  appArmorProfile?: { type?: string };
}

/** A volume of a PodSpec. */
export interface Volume {
  [field: string]: unknown;
  name: string;
}

/** Where a volume is in a container. */
export interface VolumeMount {
  [field: string]: unknown;
  name: string;
  mountPath: string;
}

/** On which nodes a pod may run. */
export interface NodeAffinity {
  [field: string]: unknown;
  requiredDuringSchedulingIgnoredDuringExecution?: {
    nodeSelectorTerms?: { [field: string]: unknown; matchExpressions?: unknown[] }[];
  };
}
