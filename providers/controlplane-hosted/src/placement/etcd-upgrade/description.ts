import { stableStringify } from "@capstan/apimachinery";
import type { HostedControlPlaneSpec } from "../../kinds/hosted-control-plane.ts";

/** The part of the spec that determines how etcd is started; `pods` only if it runs in pods. */
export type EtcdSettings = Pick<NonNullable<HostedControlPlaneSpec["etcd"]>, "extraArgs" | "quotaBytes" | "resources"> &
  Pick<HostedControlPlaneSpec, "pods">;

/** The version and settings of an etcd. */
export interface EtcdDescription {
  /** The Kubernetes version whose etcd binary it runs, or its image. */
  readonly version: string;
  readonly settings: EtcdSettings;
}

/** Returns the settings of etcd in a spec. */
export function etcdSettings(spec: HostedControlPlaneSpec): EtcdSettings {
  const { extraArgs, quotaBytes, resources } = spec.etcd ?? {};
  return {
    extraArgs,
    quotaBytes,
    resources,
  };
}

/** Returns the spec with other settings of etcd. */
export function withSettings(spec: HostedControlPlaneSpec, settings: EtcdSettings): HostedControlPlaneSpec {
  const { pods: _pods, etcd, ...others } = spec;
  const { extraArgs: _args, quotaBytes: _quota, resources: _resources, ...rest } = etcd ?? {};
  const { pods, ...own } = settings;
  return { ...others, ...(pods === undefined ? {} : { pods }), etcd: { ...rest, ...own } };
}

/** Reports whether two etcds have the same version and settings. */
export function sameEtcd(a: EtcdDescription, b: EtcdDescription): boolean {
  return stableStringify(a) === stableStringify(b);
}
