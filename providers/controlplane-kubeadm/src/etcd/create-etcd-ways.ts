import { connect as dial, type TcpNetConnectOpts } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { Clock, Random } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import { type ClusterKey, reach, type Secret, type SecretPurpose, type WorkloadClusters } from "@capstan/capi";
import { hostPort, isIPAddress } from "@capstan/controlplane";
import { type EtcdCredentials, etcdClient, secured } from "@capstan/etcd";
import { firstAnswer, type Way } from "@capstan/runtime";
import { forwardPort } from "@capstan/workloads";
import { EtcdClientCertificates } from "./client-certificates.ts";
import type { EtcdPlace, EtcdWays } from "./etcd-ways.ts";

const ETCD_PORT = 2379;
/** A call has ten seconds, in which both ways get their turn. */
const HEAD_START_MS = 1500;
const WAY_LIMIT_MS = 6000;
/** How long the connection that `open` made waits for its first call. */
const UNUSED_MS = 5000;
/** A Machine has an address per network; a tenant may list any number. */
const MAX_ADDRESSES = 4;
const FORWARDED = "through the API's port-forward";
const DIRECT = "directly at the Machine's address";

/** Dependencies of createEtcdWays. */
export interface EtcdWaysDeps {
  readonly workloads: WorkloadClusters;
  /** Reads a Secret of a cluster in the management cluster. */
  readonly secret: (cluster: ClusterKey, purpose: SecretPurpose) => Promise<Secret | undefined>;
  /** Decides about the addresses of Machines, which infrastructure providers and tenants write. */
  readonly gate: DialGate;
  readonly clock: Clock;
  readonly random: Random;
  /** Port of members for clients, if not 2379. */
  readonly port?: number;
}

/**
 * Creates the ways to members on Machines. Either way the member proves itself with a certificate of the cluster's etcd CA that names its
 * Node, so that neither another member nor a foreign program is taken for it.
 */
export function createEtcdWays(deps: EtcdWaysDeps): EtcdWays {
  return new MachineEtcdWays(deps);
}

class MachineEtcdWays implements EtcdWays {
  readonly #deps: EtcdWaysDeps;
  readonly #certificates: EtcdClientCertificates;
  /** The way that answered last, by cluster and Machine. */
  readonly #remembered = new Map<string, Map<string, string>>();

  constructor(deps: EtcdWaysDeps) {
    this.#deps = deps;
    this.#certificates = new EtcdClientCertificates(deps);
  }

  async open(cluster: ClusterKey, place: EtcdPlace): ReturnType<EtcdWays["open"]> {
    const { clock } = this.#deps;
    if (!NODE_NAME.test(place.nodeName) || place.nodeName.length > 253)
      throw new Error(`${JSON.stringify(place.nodeName.slice(0, 100))} is not the name of a Node`);
    const credentials = await this.#certificates.get(cluster);
    const endpoint = `https://${hostPort(place.nodeName, this.#port)}`;
    const connect = (url: URL, signal?: AbortSignal): Promise<TLSSocket> =>
      this.#connect(cluster, place, credentials, url, signal);
    const first = new Spare(await connect(new URL(endpoint)), clock);
    const client = etcdClient(credentials, clock, async (url, signal) => first.take() ?? (await connect(url, signal)));
    return { client, endpoint };
  }

  forget(cluster: ClusterKey): void {
    this.#remembered.delete(clusterText(cluster));
    this.#certificates.forget(cluster);
  }

  get #port(): number {
    return this.#deps.port ?? ETCD_PORT;
  }

  async #connect(
    cluster: ClusterKey,
    place: EtcdPlace,
    credentials: EtcdCredentials,
    url: URL,
    signal?: AbortSignal,
  ): Promise<TLSSocket> {
    const { clock } = this.#deps;
    const withTls = (name: string, raw: (signal: AbortSignal) => Promise<Duplex>): Way<TLSSocket> => ({
      name,
      run: (own: AbortSignal) => secured(raw(own), url, credentials, own),
    });
    const ways = [
      withTls(FORWARDED, (own) => this.#forward(cluster, place, own)),
      withTls(DIRECT, (own) => this.#dial(place, own)),
    ];
    const known = this.#remembered.get(clusterText(cluster))?.get(place.machine);
    // Without an API there is only one way.
    const preferred = reach(this.#deps.workloads, cluster).state === "connected" ? known : DIRECT;
    if (preferred === DIRECT) ways.reverse();
    try {
      const { way, value } = await firstAnswer(ways, {
        clock,
        headStartMs: HEAD_START_MS,
        limitMs: WAY_LIMIT_MS,
        signal,
        discard: (socket) => socket.destroy(),
      });
      this.#remember(cluster, place.machine, way);
      return value;
    } catch (error) {
      if (signal?.aborted === true) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`etcd on Node ${place.nodeName} cannot be reached: ${why}`, { cause: error });
    }
  }

  async #forward(cluster: ClusterKey, { nodeName }: EtcdPlace, signal: AbortSignal): Promise<Duplex> {
    const connection = reach(this.#deps.workloads, cluster);
    if (connection.state !== "connected")
      throw new Error(`the API of the cluster does not answer: ${connection.error}`);
    const pod = { namespace: "kube-system", name: `etcd-${nodeName}` };
    return await forwardPort(connection.client, pod, this.#port, signal);
  }

  async #dial({ addresses }: EtcdPlace, signal: AbortSignal): Promise<Duplex> {
    const { clock, gate } = this.#deps;
    const usable = [...new Set(addresses)].filter(isIPAddress).slice(0, MAX_ADDRESSES);
    if (usable.length === 0) throw new Error("the Machine reports no IP address");
    const port = this.#port;
    const ways = usable.map((host) => ({
      name: hostPort(host, port),
      run: (own: AbortSignal) => dialled({ host, port, ...gate.guard({ host, port }) }, own),
    }));
    const { value } = await firstAnswer<Duplex>(ways, {
      clock,
      headStartMs: 0,
      limitMs: WAY_LIMIT_MS,
      signal,
      discard: (socket) => socket.destroy(),
    });
    return value;
  }

  #remember(cluster: ClusterKey, machine: string, way: string): void {
    const key = clusterText(cluster);
    const ways = this.#remembered.get(key) ?? new Map<string, string>();
    ways.set(machine, way);
    this.#remembered.set(key, ways);
  }
}

/** The connection with which `open` found out that a member answers, for the first call. */
class Spare {
  #socket: TLSSocket | undefined;
  readonly #cancel: () => void;

  constructor(socket: TLSSocket, clock: Clock) {
    this.#socket = socket;
    socket.on("error", () => undefined);
    this.#cancel = clock.after(UNUSED_MS, () => this.take()?.destroy());
  }

  take(): TLSSocket | undefined {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#cancel();
    return socket?.destroyed === true || socket?.readableEnded === true ? undefined : socket;
  }
}

/** A Node's name is a part of its pods' names and the host in its certificates. */
const NODE_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

async function dialled(target: TcpNetConnectOpts, signal: AbortSignal): Promise<Duplex> {
  return await new Promise((resolve, reject) => {
    const socket = dial(target);
    const stop = (): void => {
      socket.destroy();
      reject(signal.reason);
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      signal.removeEventListener("abort", stop);
      // TLS reports what happens from here on.
      socket.on("error", () => undefined);
      resolve(socket);
    });
  });
}

function clusterText({ namespace, name }: ClusterKey): string {
  return `${namespace}/${name}`;
}
