import type { ConnectionOptions, TLSSocket } from "node:tls";
import type { DialGate } from "@capstan/apimachinery/foreign";

/** How to reach an API server and with which identity; from a kubeconfig, from inside a cluster, or built by hand. */
export interface ClientConfig {
  /** `https://host:port`, with a path if the API lives under one. */
  readonly server: string;
  readonly tls?: TlsConfig | undefined;
  readonly credentials?: CredentialSource | undefined;
  readonly impersonate?: Impersonation | undefined;
  /** `http://`, `https://` or `socks5://` proxy, with user and password if it wants them; without it HTTPS_PROXY and NO_PROXY are the loader's to read. */
  readonly proxyUrl?: string | undefined;
  /** The namespace of the kubeconfig's context. */
  readonly namespace?: string | undefined;
  readonly userAgent?: string | undefined;
  /** Connections for requests; each watch has its own in addition. Default 32. */
  readonly connections?: number | undefined;
  /** Silence after which a watch with bookmarks is considered dead. Default 150 s. */
  readonly readIdleMs?: number | undefined;
  /** Silence after which any other request fails. Default 75 s: the server itself gives up after 60 s. */
  readonly requestTimeoutMs?: number | undefined;
  /** Time that any other request may take from its beginning to the end of its answer. Default 10 min, 2 min with a gate. */
  readonly requestTotalMs?: number | undefined;
  /** How long an answer or an event of a watch may be. Default 512 MiB and 64 MiB, 16 MiB and 4 MiB with a gate. */
  readonly maxAnswerBytes?: number | undefined;
  /** Opens every connection in another way than dialling the host of `server`, whose name or address the peer has to prove nevertheless. */
  readonly connect?: Connect | undefined;
  /** Checks the dialled addresses; set when the configuration is untrusted. */
  readonly gate?: DialGate | undefined;
}

/** Opens a verified connection with the options of TLS that the configuration leads to. */
export type Connect = (tls: ConnectionOptions) => Promise<TLSSocket>;

/** How the server's certificate is verified. */
export interface TlsConfig {
  readonly caPem?: string | undefined;
  /** The name the server's certificate must carry, if not the host of `server`. */
  readonly serverName?: string | undefined;
  /** Accept any certificate: for tests only. */
  readonly insecure?: boolean | undefined;
}

/** The user to impersonate. */
export interface Impersonation {
  readonly user: string;
  readonly uid?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** Credentials for one request. */
export interface Credentials {
  readonly token?: string | undefined;
  /** For what stands before an API server: Kubernetes itself takes them no more. */
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly certPem?: string | undefined;
  readonly keyPem?: string | undefined;
}

/** Provides the credentials of each request, so that they can change while a process is running. */
export interface CredentialSource {
  get(): Promise<Credentials>;
  /**
   * The server said 401 to these: forget them, unless newer ones are there already because another request was faster. False if no others
   * are available.
   */
  invalidate(used: Credentials): boolean;
}

/** Returns a source of credentials that never change. */
export function fixedCredentials(credentials: Credentials): CredentialSource {
  return { get: () => Promise.resolve(credentials), invalidate: () => false };
}
