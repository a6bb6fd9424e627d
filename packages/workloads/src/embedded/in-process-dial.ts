import type { ApiRequest, ApiResponse, Clock, Transport, UserInfo, WatchEvent } from "@capstan/apimachinery";
import { isSignedBy, ownsCertificate, type ParsedCertificate, parseCertificate } from "@capstan/pki";
import type { ClientConfig } from "@capstan/runtime";
import type { EmbeddedCluster } from "./embedded-clusters.ts";

/** Connects to an embedded cluster without a socket, with the same checks as TLS and the server make. */
export function inProcess(find: () => EmbeddedCluster | undefined, config: ClientConfig, clock: Clock): Transport {
  return new EmbeddedTransport(find, config, clock);
}

interface Opened {
  readonly cluster: EmbeddedCluster;
  readonly transport: Promise<Transport>;
}

class EmbeddedTransport implements Transport {
  readonly #find: () => EmbeddedCluster | undefined;
  readonly #config: ClientConfig;
  readonly #clock: Clock;
  #opened: Opened | undefined;

  constructor(find: () => EmbeddedCluster | undefined, config: ClientConfig, clock: Clock) {
    this.#find = find;
    this.#config = config;
    this.#clock = clock;
  }

  async request(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    const { cluster, transport } = await this.#open();
    if (cluster.refusesWrites !== undefined && WRITES.has(request.method)) return refusedWrite(cluster.refusesWrites);
    return await transport.request(request, signal);
  }

  async *watch(request: ApiRequest, signal?: AbortSignal): AsyncIterable<WatchEvent> {
    const { cluster, transport } = await this.#open();
    const { connections } = cluster;
    const either = signal === undefined ? connections : AbortSignal.any([signal, connections]);
    yield* transport.watch(request, either);
    if (connections.aborted && signal?.aborted !== true) throw connections.reason;
  }

  async close(): Promise<void> {
    // One that never came about has nothing to close.
    await this.#opened?.transport.then(
      (transport) => transport.close(),
      () => undefined,
    );
  }

  async #open(): Promise<{ cluster: EmbeddedCluster; transport: Transport }> {
    const cluster = this.#find();
    if (cluster?.reachable !== true) throw new Error(`connect ECONNREFUSED ${this.#config.server}`);
    // Another cluster at the same address has its own authority.
    if (this.#opened?.cluster !== cluster) this.#opened = { cluster, transport: this.#connect(cluster) };
    const opened = this.#opened;
    try {
      return { cluster, transport: await opened.transport };
    } catch (error) {
      // Credentials may be better the next time.
      if (this.#opened === opened) this.#opened = undefined;
      throw error;
    }
  }

  async #connect(cluster: EmbeddedCluster): Promise<Transport> {
    const { server, caPem } = cluster;
    const { tls, credentials } = this.#config;
    if (tls?.insecure !== true && !(tls?.caPem ?? "").includes(caPem.trim()))
      throw new Error(`certificate of ${this.#config.server} is signed by an unknown authority`);
    const { certPem, keyPem, token } = (await credentials?.get()) ?? {};
    if (certPem !== undefined) return server.transport(userOf(certPem, keyPem, cluster, this.#clock.now()));
    const plain = server.transport();
    return token === undefined ? plain : withHeader(plain, "authorization", `Bearer ${token}`);
  }
}

/** What etcd's quota lets through: deletions make room. */
const WRITES = new Set(["POST", "PUT", "PATCH"]);

function refusedWrite(message: string): ApiResponse {
  const body = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 500 };
  return { status: 500, headers: {}, body, warnings: [] };
}

/**
 * Who a client certificate says it is, if the authority signed it for a client, its time is now, and the caller has its private key:
 * certificates are public, and TLS would ask for a signature too.
 */
function userOf(certPem: string, keyPem: string | undefined, cluster: EmbeddedCluster, nowMs: number): UserInfo {
  const { subject, notBeforeMs, notAfterMs, extendedKeyUsage, usages } = parseCertificate(certPem);
  if (!isSignedBy(certPem, authorityOf(cluster)) || nowMs < notBeforeMs || nowMs > notAfterMs)
    throw new Error("the client certificate is not signed by the cluster's authority, or its time is not now");
  if (extendedKeyUsage && !usages.includes("client"))
    throw new Error("the client certificate is not meant for clients: its extended key usage lacks clientAuth");
  if (keyPem === undefined || !ownsCertificate(certPem, keyPem))
    throw new Error("the private key of the client certificate is missing or belongs to another certificate");
  return { name: subject.commonName, groups: [...subject.organizations, "system:authenticated"] };
}

const authorities = new WeakMap<EmbeddedCluster, ParsedCertificate>();

function authorityOf(cluster: EmbeddedCluster): ParsedCertificate {
  let authority = authorities.get(cluster);
  if (authority === undefined) {
    authority = parseCertificate(cluster.caPem);
    authorities.set(cluster, authority);
  }
  return authority;
}

function withHeader(inner: Transport, name: string, value: string): Transport {
  const extend = (request: ApiRequest): ApiRequest => ({ ...request, headers: { ...request.headers, [name]: value } });
  return {
    request: (request, signal) => inner.request(extend(request), signal),
    watch: (request, signal) => inner.watch(extend(request), signal),
    close: () => inner.close(),
  };
}
