import { join } from "node:path";
import { type ClusterKey, clusterSecretName, type LoadedProvider, Secret, type SecretPurpose } from "@capstan/capi";
import { sweepScratch } from "@capstan/controlplane";
import { allocatedPorts } from "@capstan/workloads";
import { BackupOrigins } from "./backup/backup-origins.ts";
import { controlPlaneBackupController } from "./backup/controller.ts";
import { kubeadmControlPlaneController } from "./controller.ts";
import { createEtcdWays } from "./etcd/create-etcd-ways.ts";
import { inProcessFirst } from "./etcd/in-process-first.ts";
import { addKubeadmControlPlaneIndexes } from "./indexes.ts";
import type { KubeadmControlPlaneDeps } from "./provider.ts";
import { controlPlaneRecoveryController } from "./recovery/controller.ts";
import { KeptSnapshots } from "./recovery/kept-snapshots.ts";
import { namedBackups } from "./recovery/named-backups.ts";
import { SnapshotServer } from "./recovery/snapshot-server.ts";
import { createWorkloadSide } from "./workload/create-workload-side.ts";
import { eitherWay } from "./workload/endpoint-problem.ts";
import { observeEtcd } from "./workload/etcd-metrics.ts";

/** Creates the provider's running part. */
export function loadKubeadmControlPlane(deps: KubeadmControlPlaneDeps): LoadedProvider {
  const { client, cache, clock, random, log, gate, workload, calls, dataDir, nodeAddress, capacitySources } = deps;
  const secret = async ({ namespace, name }: ClusterKey, purpose: SecretPurpose): Promise<Secret | undefined> => {
    const key = { namespace, name: clusterSecretName(name, purpose) };
    return cache.get(Secret, key) ?? (await client.get(Secret, key));
  };
  const direct = createEtcdWays({ workloads: workload, secret, gate, clock, random });
  const ways = inProcessFirst(direct, deps.etcdInProcess);
  const side = createWorkloadSide({ workloads: workload, calls, ways, clock, random, log });
  if (deps.metrics !== undefined) observeEtcd(deps.metrics, () => side.etcdReports());
  const place = { dir: join(dataDir, "backups"), gate };
  const origins = new BackupOrigins();
  sweepScratch(place.dir);
  const recoveries = join(dataDir, "recoveries");
  const server = new SnapshotServer({
    clock,
    random,
    host: nodeAddress,
    dir: recoveries,
    taken: () => portsOfThisMachine(dataDir),
  });
  return {
    addIndexes: addKubeadmControlPlaneIndexes,
    controllers: () => [
      kubeadmControlPlaneController({ side, cache, workload: eitherWay(workload), capacitySources: capacitySources() }),
      controlPlaneBackupController({ ways, place, origins, named: namedBackups }),
      controlPlaneRecoveryController({ ways, side, place, origins, server, kept: new KeptSnapshots(recoveries) }),
    ],
    close: () => server.close(),
  };
}

/** Ports of control planes on this machine, hosted and simulated ones. */
async function portsOfThisMachine(dataDir: string): Promise<ReadonlySet<number>> {
  const roots = ["clusters", "embedded"].map((name) => allocatedPorts(join(dataDir, name)));
  return new Set((await Promise.all(roots)).flatMap((ports) => [...ports.keys()]));
}
