import { lookup } from "node:dns/promises";
import { join } from "node:path";
import { Cluster, type ClusterKey, type LoadedProvider, type Provider, type ProviderDeps } from "@capstan/capi";
import type { Cache } from "@capstan/runtime";
import { type EmbeddedClusters, HostClusters } from "@capstan/workloads";
import { controlPlaneOf, hostedControlPlaneController } from "./controller.ts";
import { TokenSigner } from "./join/token-signer.ts";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { HostedControlPlaneTemplate } from "./kinds/hosted-control-plane-template.ts";
import { EmbeddedPlacement } from "./placement/embedded/embedded.ts";
import { PodsPlacement } from "./placement/pods/pods.ts";
import { type ProcessOptions, processPlacement } from "./placement/process/on-this-machine.ts";
import { stopRank } from "./placement/process/process.ts";

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
  load: loadHosted,
};

async function loadHosted(deps: HostedDeps): Promise<LoadedProvider> {
  const { client, cache, clock, random, log, gate, workload, dataDir, embedded } = deps;
  const processes = await processPlacement(deps);
  const management = deps.runsPods === true ? client : undefined;
  const hosts = new HostClusters({ management, fieldManager: client.fieldManager, clock, random, log, gate });
  return {
    addIndexes: () => undefined,
    controllers: () => [
      hostedControlPlaneController({
        placements: {
          Process: processes.placement,
          Embedded: new EmbeddedPlacement({ clusters: embedded, clock, random }),
          Pods: new PodsPlacement({ hosts, management: client, clock, random, log }),
        },
        defaultPlacement: deps.runsPods === true ? "Pods" : "Process",
        prepared: new Map(),
        gate,
        workload,
        resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
        backupDir: join(dataDir, "backups"),
        signer: new TokenSigner({ workload, isHosted: hostedIn(cache), clock, random, log }),
      }),
    ],
    close: async (programs) => {
      await hosts.stop();
      // The next manager adopts programs that keep running.
      if (programs === "keep") processes.workloads.release();
      else await processes.workloads.stopAll((id) => stopRank(id.name));
    },
  };
}

/** Whether a Cluster's control plane is a hosted one that does not sign for itself. */
function hostedIn(cache: Cache): (key: ClusterKey) => boolean {
  return (key) => {
    const cluster = cache.get(Cluster, key);
    const [plane] = cluster === undefined ? [] : controlPlaneOf(cluster);
    return plane !== undefined && cache.get(HostedControlPlane, plane)?.spec.placement?.type !== "Embedded";
  };
}
