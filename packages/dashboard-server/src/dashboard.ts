import { join } from "node:path";
import type { Clock, ConnectionLimits, Random, UserInfo } from "@capstan/apimachinery";
import { hostKinds, isTreeKind, type ProviderDescription } from "@capstan/capi";
import { installedVersions, kubernetesDir } from "@capstan/kubernetes-install";
import { type Cache, type KindRef, kindRef, type Logger } from "@capstan/runtime";
import type { ControlPlaneHome } from "./protocol.ts";
import { type ActingTransport, isLoopback, startDashboardServer } from "./server.ts";
import { Sessions } from "./sessions.ts";
import { Views } from "./views.ts";

const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

/** A provider with the kinds that it serves. */
type DashboardProvider = ProviderDescription & { readonly kinds: readonly KindRef[] };

/** What the dashboard needs from its manager. */
export interface DashboardOptions {
  /** Folder of the built dashboard, which `cli` finds. */
  readonly pageDir: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** Take any free port if the wanted one is in use. */
  readonly anyPort?: boolean;
  readonly tls?: { readonly certPem: string; readonly keyPem: string; readonly clientCaPem: string };
  readonly names?: readonly string[];
  /** Overrides of the default connection limits. */
  readonly limits?: Partial<ConnectionLimits>;
  readonly dataDir: string;
  readonly acting: ActingTransport;
  readonly cache: Cache;
  readonly providers: readonly DashboardProvider[];
  /** Default placement of control planes, if not as processes. */
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
  /** Returns a URL that signs in once, as this user. */
  signInLink(user: UserInfo): string;
  close(): Promise<void>;
}

/** Serves the dashboard in the manager's process, from the manager's cache. */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { cache, clock, random, log, listen, providers } = options;
  const hosts = hostKinds(providers);
  const kinds = providers.flatMap((provider) => provider.kinds).filter((kind) => isTreeKind(kind, hosts));
  const views = new Views({ cache, kinds, providers, clock, random, log });
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
      providers,
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
    // In the fragment, which is never sent, so that it cannot appear in a log or a Referer.
    signInLink: (user) => `${server.url}/sign-in#${sessions.createLink({ type: "user", user })}`,
    close: async () => {
      await server.close();
      await views.stop();
    },
  };
}
