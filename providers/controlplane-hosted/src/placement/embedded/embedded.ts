import type { Clock, Random, Transport } from "@capstan/apimachinery";
import { issueCertificate } from "@capstan/pki";
import {
  EMBEDDED_OBJECTS,
  type EmbeddedCluster,
  type EmbeddedClusters,
  shared,
  startEmbeddedSigner,
} from "@capstan/workloads";
import type {
  ControlPlanePlan,
  Placement,
  PlacementAccess,
  PlacementState,
  Reservation,
  ReserveRequest,
} from "../placement.ts";

const YEAR_MS = 365 * 24 * 3600_000;

/** Dependencies of the embedded placement. */
export interface EmbeddedPlacementOptions {
  readonly clusters: EmbeddedClusters;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Runs a control plane as one API server inside this process, for simulations, demos and load tests. Its data is stored on this machine and
 * survives a restart.
 */
export class EmbeddedPlacement implements Placement {
  readonly singleAuthority = true;
  readonly #options: EmbeddedPlacementOptions;
  readonly #stopSigners = new Map<string, () => void>();

  constructor(options: EmbeddedPlacementOptions) {
    this.#options = options;
  }

  async reserve(request: ReserveRequest): Promise<Reservation> {
    try {
      const endpoint = await this.#options.clusters.endpoint();
      // An endpoint that is already set is kept: whoever chose another address routes it here.
      return { type: "reserved", endpoint: request.endpoint ?? endpoint };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { type: "failed", reason: "AddressNotUsable", message: `cannot listen for embedded clusters: ${why}` };
    }
  }

  async ensure(plan: ControlPlanePlan): Promise<PlacementState> {
    const { clusters } = this.#options;
    const existing = clusters.get(plan.owner);
    const cluster =
      existing ??
      (await clusters.ensure(plan.owner, {
        ca: plan.authorities.cluster,
        identity: plan.objectUid,
        serving: (serverName) =>
          issueCertificate(plan.authorities.cluster, {
            commonName: "kube-apiserver",
            dnsNames: [serverName, "kubernetes", "localhost"],
            ipAddresses: ["127.0.0.1"],
            usages: ["server"],
            nowMs: this.#options.clock.now(),
            validMs: YEAR_MS,
            random: this.#options.random,
          }),
      }));
    cluster.reachable = true;
    if (!this.#stopSigners.has(plan.owner)) await this.#prepare(plan.owner, cluster);
    return running(plan.version);
  }

  observe(owner: string): Promise<PlacementState> {
    const serves = this.#options.clusters.get(owner)?.reachable === true;
    return Promise.resolve(serves ? running() : { components: [], apiReady: false });
  }

  async hibernate(owner: string): Promise<PlacementState> {
    const cluster = this.#options.clusters.get(owner);
    if (cluster !== undefined) cluster.reachable = false;
    return { components: [], apiReady: false };
  }

  async remove(owner: string): Promise<string[]> {
    this.#stopSigners.get(owner)?.();
    this.#stopSigners.delete(owner);
    await this.#options.clusters.remove(owner);
    return [];
  }

  /** Never calls back, because nothing changes without a reconcile. */
  subscribe(): () => void {
    return () => undefined;
  }

  access(owner: string): PlacementAccess {
    const { clusters } = this.#options;
    const cluster = clusters.get(owner);
    if (cluster === undefined) throw new Error(`the embedded control plane ${owner} does not run`);
    const { path, serverName, server } = cluster;
    return {
      path,
      serverName,
      connect: (): Transport => server.admin(),
      fill: (objects) => server.seed(objects.map(shared)),
    };
  }

  /** Objects that components create which an embedded control plane does not have. */
  async #prepare(owner: string, cluster: EmbeddedCluster): Promise<void> {
    const { clock } = this.#options;
    this.#stopSigners.set(owner, startEmbeddedSigner(cluster.server.internal, clock));
    await cluster.server.seed(EMBEDDED_OBJECTS);
  }
}

function running(version?: string): PlacementState {
  const ready = (name: string) => ({ name, ready: true, message: "", restarts: 0 });
  return {
    components: [ready("etcd"), ready("kube-apiserver")],
    apiReady: true,
    version,
    readyReplicas: 1,
  };
}
