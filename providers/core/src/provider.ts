import {
  ALL_KINDS,
  type AnyKind,
  KubeadmConfig,
  KubeadmConfigTemplate,
  KubeadmControlPlane,
  KubeadmControlPlaneTemplate,
  type Provider,
  type ProviderDeps,
  WorkerPool,
} from "@capstan/capi";
import type { NodeLabelSync } from "./machine/node-keys.ts";

/** Dependencies and settings of the core provider. */
export interface CoreProviderDeps extends ProviderDeps {
  /** Additional labels and annotations of Machines to copy to their Nodes. */
  readonly nodeLabelSync?: NodeLabelSync | undefined;
}

/** Kinds of upstream that other providers serve. */
const ELSEWHERE: readonly { kind: string }[] = [
  KubeadmConfig,
  KubeadmConfigTemplate,
  KubeadmControlPlane,
  KubeadmControlPlaneTemplate,
];

/** The core provider: the controllers of Cluster API's core kinds and of WorkerPools. */
export const core: Provider<CoreProviderDeps> = {
  name: "core",
  title: "Cluster API",
  kinds: [...ALL_KINDS.filter(({ kind }) => !ELSEWHERE.some((other) => other.kind === kind)), WorkerPool] as AnyKind[],
  access: {
    inventory: ["inclusterippools", "inclusterprefixpools", "ipaddresses", "clusterresourcesetbindings"],
  },
  reasons: async () => (await import("./reasons.ts")).CORE_REASONS,
  load: async (deps) => (await import("./running.ts")).loadCore(deps),
};
