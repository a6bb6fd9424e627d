import { lookup } from "node:dns/promises";
import { join } from "node:path";
import { Cluster, type ClusterKey, type LoadedProvider } from "@capstan/capi";
import { sweepScratch } from "@capstan/controlplane";
import type { Cache } from "@capstan/runtime";
import { HostClusters } from "@capstan/workloads";
import { controlPlaneOf, hostedControlPlaneController } from "./controller.ts";
import { TokenSigner } from "./join/token-signer.ts";
import { HostedControlPlane } from "./kinds/hosted-control-plane.ts";
import { EmbeddedPlacement } from "./placement/embedded/embedded.ts";
import { PodsPlacement } from "./placement/pods/pods.ts";
import { processPlacement } from "./placement/process/on-this-machine.ts";
import { stopRank } from "./placement/process/process.ts";
import type { HostedDeps } from "./provider.ts";

/** Creates the provider's running part. */
export async function loadHosted(deps: HostedDeps): Promise<LoadedProvider> {
  const { client, cache, clock, random, log, gate, workload, dataDir, embedded } = deps;
  const processes = await processPlacement(deps);
  const management = deps.runsPods === true ? client : undefined;
  sweepScratch(join(dataDir, "backups"));
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
