import type { ClusterNetwork } from "@capstan/controlplane";
import type { EtcdMember } from "@capstan/etcd";
import type { HostedControlPlaneSpec } from "../kinds/hosted-control-plane.ts";

/** Everything that the components' command lines are built from. Paths are relative to `$FILES`, where the placement stores files. */
export interface ComponentContext {
  clusterName: string;
  version: string;
  network: ClusterNetwork;
  spec: HostedControlPlaneSpec;
  /** Where nodes reach the API. */
  endpoint: { host: string; port: number };
  /** Address kube-apiserver listens on. */
  bindAddress: string;
  /** Port kube-apiserver listens on. */
  apiPort: number;
  /** Ports of health and metrics. */
  ports: { controllerManager: number; scheduler: number };
  /** Address of the health and metrics endpoints of kube-controller-manager and kube-scheduler; loopback by default. */
  healthAddress?: string;
  /** Whether two replicas may run at the same time, so that leader election is needed. */
  leaderElect?: boolean;
  /** How long a stopping kube-apiserver keeps serving, so that no Service routes to it any more when it exits. */
  drainSeconds?: number;
  /** Name of the file that routes kube-apiserver's calls into the cluster through konnectivity. */
  egressSelectorFile?: string;
  /** Path of kube-apiserver's audit log; standard output by default. */
  auditLog?: string;
  /** Whether kube-apiserver has a file with encryption keys. */
  encrypted?: boolean;
  /** The members of etcd, by index. */
  etcd: readonly EtcdMember[];
  /** Location of this control plane's data in a shared etcd. */
  etcdPrefix?: string;
}

/** A flag with its value. */
export type Flag = readonly [name: string, value: string];

/** Renders flags as arguments. The user's extra arguments are added and override flags of the same name. */
export function renderFlags(flags: readonly Flag[], extra: readonly { name: string; value?: string }[] = []): string[] {
  const replaced = new Set(extra.map((argument) => argument.name));
  return [
    ...flags.filter(([name]) => !replaced.has(name)).map(([name, value]) => `--${name}=${value}`),
    // Without a value it is a boolean that is true. Any other flag would take the next argument as its value.
    ...extra.map((argument) => `--${argument.name}=${argument.value ?? "true"}`),
  ];
}
