import { field, type Provider, type ProviderDeps } from "@capstan/capi";
import type { EmbeddedClusters } from "@capstan/workloads";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { HostedControlPlaneTemplate } from "./kinds/hosted-control-plane-template.ts";
import type { ProcessOptions } from "./placement/process/on-this-machine.ts";
import { hostedWhy } from "./why.ts";

const ALL_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"];

/** Dependencies and settings of the hosted control plane provider. */
export interface HostedDeps extends ProviderDeps, ProcessOptions {
  /** API servers of control planes inside this process. */
  readonly embedded: EmbeddedClusters;
  /** Whether the management cluster runs pods; the embedded one does not. */
  readonly runsPods?: boolean | undefined;
}

/** The hosted control plane provider: control planes that need no machines. */
export const hosted: Provider<HostedDeps> = {
  name: "controlplane-hosted",
  title: "Hosted control planes",
  controlPlane: {
    name: "hosted",
    summary: "runs next to the manager or as pods, and needs no machines",
    kind: "HostedControlPlane",
    inMemoryPlacement: "Embedded",
    ownBackups: true,
    needsPrograms: (controlPlane) => {
      const placement = field(controlPlane, "spec", "placement", "type");
      return placement === undefined || placement === "Process";
    },
    spec: ({ version, replicas, endpoint, placement }) => ({
      version,
      replicas,
      controlPlaneEndpoint: endpoint,
      ...(placement === undefined ? {} : { placement: { type: placement } }),
    }),
  },
  kinds: [HostedControlPlane, HostedControlPlaneTemplate],
  access: {
    rules: [
      { apiGroups: [""], resources: ["services", "pods", "persistentvolumeclaims"], verbs: ALL_VERBS },
      // etcd in pods is queried and filled through the API: a WebSocket is a get to older servers, a create to newer ones.
      { apiGroups: [""], resources: ["pods/portforward", "pods/exec"], verbs: ["create", "get"] },
      { apiGroups: ["apps"], resources: ["deployments", "statefulsets"], verbs: ALL_VERBS },
      { apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ALL_VERBS },
      { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ALL_VERBS },
    ],
  },
  why: hostedWhy,
  reasons: async () => (await import("./reasons.ts")).HOSTED_REASONS,
  load: async (deps) => (await import("./running.ts")).loadHosted(deps),
};
