import { join } from "node:path";
import type { Clock, ConnectionLimits, Random, UserInfo } from "@capstan/apimachinery";
import { isTreeKind } from "@capstan/capi";
import { installedVersions, kubernetesDir } from "@capstan/kubernetes-install";
import { type Cache, type KindRef, kindRef, type Logger } from "@capstan/runtime";
import type { ControlPlaneHome } from "./protocol.ts";
import { type ActingTransport, isLoopback, startDashboardServer } from "./server.ts";
import { Sessions } from "./sessions.ts";
import { Views } from "./views.ts";

const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

/** What the dashboard needs from its manager. */
export interface DashboardOptions {
  /** The built page; `cli` knows where it is. */
  readonly pageDir: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** Take any free port if the wanted one is in use. */
  readonly anyPort?: boolean;
  readonly tls?: { readonly certPem: string; readonly keyPem: string; readonly clientCaPem: string };
  readonly names?: readonly string[];
  /** What differs from the usual limits of connections. */
  readonly limits?: Partial<ConnectionLimits>;
  readonly dataDir: string;
  readonly acting: ActingTransport;
  readonly cache: Cache;
  readonly kinds: readonly KindRef[];
  /** Where control planes run that do not say where, if not as processes. */
  readonly defaultPlacement?: ControlPlaneHome["placement"];
  /** Folders of Kubernetes binaries in addition to the one in the data directory. */
  readonly kubernetesDirs?: readonly string[];
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A running dashboard. */
export interface Dashboard {
  readonly url: string;
  /** An address that signs in once, as this user. */
  signInLink(user: UserInfo): string;
  close(): Promise<void>;
}

/** Serves the dashboard in the manager's process, from the manager's cache. */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { cache, clock, random, log, listen } = options;
  const views = new Views({ cache, kinds: options.kinds.filter(isTreeKind), clock, random, log });
  const sessions = await Sessions.open({ file: join(options.dataDir, "dashboard-sessions.json"), clock, random });
  const start = (port: number): ReturnType<typeof startDashboardServer> =>
    startDashboardServer({
      host: listen.host,
      port,
      ...(isLoopback(listen.host) || options.tls === undefined ? {} : { tls: options.tls }),
      names: options.names ?? [],
      limits: options.limits,
      pageDir: options.pageDir,
      views,
      sessions,
      acting: options.acting,
      namespaces: async () => (await cache.client.list(Namespace)).items.map(({ metadata }) => metadata.name ?? ""),
      controlPlanes: async () => ({
        placement: options.defaultPlacement ?? "Process",
        versions: await installedVersions([kubernetesDir(options.dataDir), ...(options.kubernetesDirs ?? [])]),
      }),
      version: options.version,
      clock,
      random,
      log,
    });
  const server = await start(listen.port).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE" && options.anyPort === true) return start(0);
    throw error;
  });
  return {
    url: server.url,
    // After the hash, because that part never travels: it cannot end in a log or in a Referer.
    signInLink: (user) => `${server.url}/sign-in#${sessions.createLink({ type: "user", user })}`,
    close: async () => {
      await server.close();
      await views.stop();
    },
  };
}
