import { join } from "node:path";
import type { Clock, Random, UserInfo } from "@capstan/apimachinery";
import type { Cache, KindRef, Logger } from "@capstan/runtime";
import { type ActingTransport, isLoopback, startDashboardServer } from "./server.ts";
import { Sessions } from "./sessions.ts";
import { shownKinds } from "./view-kinds.ts";
import { Views } from "./views.ts";

/** What the dashboard of a manager needs. */
export interface DashboardOptions {
  /** The built page; `cli` knows where it is. */
  readonly pageDir: string;
  readonly listen: { readonly host: string; readonly port: number };
  /** Take any free port if the wanted one is in use. */
  readonly anyPort?: boolean;
  readonly tls?: { readonly certPem: string; readonly keyPem: string; readonly clientCaPem: string };
  readonly names?: readonly string[];
  readonly dataDir: string;
  readonly acting: ActingTransport;
  readonly cache: Cache;
  readonly kinds: readonly KindRef[];
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** A dashboard that is being served. */
export interface Dashboard {
  readonly url: string;
  /** An address that signs in once, as this user. */
  signInLink(user: UserInfo): string;
  close(): Promise<void>;
}

/** Serves the dashboard beside the manager, from the manager's own cache. */
export async function startDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { cache, clock, random, log, listen } = options;
  const views = new Views({ cache, kinds: shownKinds(options.kinds), clock, random, log });
  const sessions = await Sessions.open({ file: join(options.dataDir, "dashboard-sessions.json"), clock, random });
  const start = (port: number): ReturnType<typeof startDashboardServer> =>
    startDashboardServer({
      host: listen.host,
      port,
      ...(isLoopback(listen.host) || options.tls === undefined ? {} : { tls: options.tls }),
      names: options.names ?? [],
      pageDir: options.pageDir,
      views,
      sessions,
      acting: options.acting,
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
