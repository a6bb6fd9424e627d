import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Clock, type ConnectionLimits, formatTime, type Random } from "@capstan/apimachinery";
import { type ApiServer, auditFile, createApiServer, type OidcOptions } from "@capstan/apiserver";
import { actingInProcess, type Dashboard, startDashboard } from "@capstan/dashboard-server";
import { processIdentity, writeFileAtomic } from "@capstan/os";
import { buildKubeconfig } from "@capstan/pki";
import { createMetrics, type Logger, measuredTransport } from "@capstan/runtime";
import { managerTransport } from "./access.ts";
import { serveControl } from "./control-socket.ts";
import { INSTANCE_EXTENSION, readInstance, removeInstance, writeInstance } from "./instance.ts";
import { ensureInstancePki, type InstancePki } from "./instance-pki.ts";
import { openEmbeddedStores, openInstanceReserve, openInstanceStore } from "./instance-store.ts";
import { kindRules } from "./kind-rules.ts";
import { type Manager, type ManagerOptions, startManager } from "./manager.ts";
import { kindsOf, PROVIDERS } from "./providers.ts";

/** Settings of a standalone management plane: data directory, listeners, encryption, authentication and limits. */
export interface StandaloneOptions {
  dataDir: string;
  listen: { host: string; port: number };
  nodeAddress?: string;
  kubernetesDirs?: readonly string[];
  bareMetalHosts?: "auto" | "off";
  /** The providers to load; by default those of this tree. */
  providers?: ManagerOptions["providers"];
  /** The modules that providers from outside this tree came from, for commands that use this instance. */
  providerFiles?: readonly string[];
  trustTenants?: ManagerOptions["trustTenants"];
  controlPlaneLimits?: ManagerOptions["controlPlaneLimits"];
  /** Further labels and annotations of Machines that their Nodes get. */
  nodeLabelSync?: ManagerOptions["nodeLabelSync"];
  /** Addresses that objects may have dialled although they are special. */
  allowAddresses?: ManagerOptions["allowAddresses"];
  /** Secrets are encrypted at rest with the keys of this file. */
  encryptionKeyFile?: string;
  /** Every request is recorded here, one JSON line each, without the contents of Secrets. */
  auditLog?: string;
  /** An OIDC issuer whose ID tokens are accepted as well. */
  oidc?: OidcOptions;
  /** Serves the dashboard, if given. `anyPort`: another port if this one is in use. */
  dashboard?: { pageDir: string; listen: { host: string; port: number }; anyPort?: boolean };
  /** What differs from the usual limits of connections to the API and the dashboard. */
  limits?: Partial<ConnectionLimits>;
  version: string;
  clock: Clock;
  random: Random;
  log: Logger;
}

/** A running management plane in one process: the embedded API and all controllers. */
export interface Standalone {
  server: string;
  kubeconfig: string;
  manager: Manager;
  /** Its address, and a one-time sign-in link with the permissions of the kubeconfig. */
  dashboard?: { url: string; signInLink(): string };
  /** Stops controllers and API; hosted control planes keep running unless `withPrograms`. */
  close(withPrograms: boolean): Promise<void>;
}

/** The link grants the permissions of the kubeconfig, which anyone who can read this process's output can read as well. */
const ADMIN_USER = { name: "capstan-admin", groups: ["system:masters", "system:authenticated"] };

/** Thrown when another instance is already running on the data directory. */
export class AlreadyRunningError extends Error {
  readonly pid: number;
  readonly server: string;

  constructor(pid: number, server: string, dataDir: string) {
    super(`capstan already runs on ${dataDir} (pid ${pid}, ${server})`);
    this.name = "AlreadyRunningError";
    this.pid = pid;
    this.server = server;
  }
}

/** Starts a management plane on a data directory. When the start fails, no listener or lock is left behind. */
export async function startStandalone(options: StandaloneOptions): Promise<Standalone> {
  const started: (() => Promise<void>)[] = [];
  try {
    return await start(options, started);
  } catch (error) {
    for (const stop of started.reverse()) await stop().catch(() => undefined);
    throw error;
  }
}

/** `started` receives the stop function of each part that is running. */
async function start(options: StandaloneOptions, started: (() => Promise<void>)[]): Promise<Standalone> {
  const { dataDir, clock, random, log, providers = PROVIDERS } = options;
  const other = await readInstance(dataDir);
  if (other !== undefined) throw new AlreadyRunningError(other.pid, other.server, dataDir);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  // First: on a full disk it makes room for the files of a start.
  const reserve = openInstanceReserve(dataDir);
  const { host } = options.listen;
  const pki = await ensureInstancePki(dataDir, host === "127.0.0.1" ? [] : [host], { clock, random });
  const store = await openInstanceStore(dataDir, options.encryptionKeyFile, { clock, random, log, reserve });
  started.push(() => store.close());
  const onError = (error: unknown): void => log.error("the audit log cannot be written", { error });
  const audit = options.auditLog === undefined ? undefined : await auditFile(options.auditLog, { onError });
  if (audit !== undefined) started.push(() => audit.close());
  const metrics = await createMetrics({ clock });
  let running: ApiServer | undefined;
  const api = await createApiServer({
    store,
    ...kindRules(kindsOf(providers), () => running),
    clock,
    random,
    log: (message, error) => log.error(message, { error }),
    ca: pki.ca,
    ...(audit === undefined ? {} : { audit: { sink: audit.sink } }),
    moreMetrics: async () => (await metrics.text()).body,
    auth: {
      serviceAccounts: { signingKeyPem: pki.serviceAccountKeyPem },
      ...(options.oidc === undefined ? {} : { oidc: { onProblem: (message) => log.warn(message), ...options.oidc } }),
    },
  });
  running = api;
  started.push(() => api.close());
  const listener = await api.listen({
    host,
    port: options.listen.port,
    limits: options.limits,
    tls: { certPem: pki.serving.certPem, keyPem: pki.serving.keyPem, clientCaPem: pki.ca.certPem },
  });
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host;
  const server = `https://${reachable.includes(":") ? `[${reachable}]` : reachable}:${listener.port}`;
  const kubeconfig = join(dataDir, "kubeconfig");
  const text = buildKubeconfig({
    server,
    caPem: pki.ca.certPem,
    clusterName: "capstan",
    userName: "capstan-admin",
    contextName: "capstan",
    clientCertPem: pki.admin.certPem,
    clientKeyPem: pki.admin.keyPem,
    contextExtensions: { [INSTANCE_EXTENSION]: { dataDir: resolve(dataDir) } },
  });
  await writeFileAtomic(kubeconfig, text);
  const manager = await startManager({
    transport: measuredTransport(await managerTransport(api, clock, providers), metrics, "embedded"),
    metrics,
    kinds: "in-process",
    providers,
    dataDir,
    embeddedStores: () => openEmbeddedStores(dataDir, options.encryptionKeyFile, { clock, random, reserve }),
    kubernetesDirs: options.kubernetesDirs,
    nodeAddress: options.nodeAddress,
    bareMetalHosts: options.bareMetalHosts,
    trustTenants: options.trustTenants,
    controlPlaneLimits: options.controlPlaneLimits,
    nodeLabelSync: options.nodeLabelSync,
    allowAddresses: options.allowAddresses,
    clock,
    random,
    log,
  });
  started.push(() => manager.stop());
  const dashboard = await dashboardOf(options, { api, manager, pki });
  if (dashboard !== undefined) started.push(() => dashboard.close());
  const signInLink = (): string | undefined => dashboard?.signInLink(ADMIN_USER);
  const stopControl = await serveControl(dataDir, { backup: (path) => store.backup(path), signInLink });
  started.push(stopControl);
  await writeInstance(dataDir, {
    ...(processIdentity(process.pid) ?? { pid: process.pid }),
    server,
    kubeconfig,
    startedAt: formatTime(clock.now()),
    version: options.version,
    ...(dashboard === undefined ? {} : { dashboard: dashboard.url }),
    ...(options.providerFiles === undefined
      ? {}
      : { providerFiles: options.providerFiles.map((file) => resolve(file)) }),
  });
  reserve.started();
  return {
    server,
    kubeconfig,
    manager,
    ...(dashboard === undefined
      ? {}
      : { dashboard: { url: dashboard.url, signInLink: () => dashboard.signInLink(ADMIN_USER) } }),
    close: async (withPrograms) => {
      await dashboard?.close();
      if (withPrograms) await manager.shutDown();
      else await manager.stop();
      await stopControl();
      await api.close();
      await audit?.close();
      await removeInstance(dataDir);
    },
  };
}

async function dashboardOf(
  options: StandaloneOptions,
  { api, manager, pki }: { api: ApiServer; manager: Manager; pki: InstancePki },
): Promise<Dashboard | undefined> {
  const { dashboard, clock, random, log, dataDir, version } = options;
  if (dashboard === undefined) return undefined;
  return await startDashboard({
    ...dashboard,
    tls: { certPem: pki.serving.certPem, keyPem: pki.serving.keyPem, clientCaPem: pki.ca.certPem },
    names: [dashboard.listen.host],
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    dataDir,
    acting: actingInProcess(api),
    cache: manager.cache,
    providers: options.providers ?? PROVIDERS,
    ...(options.kubernetesDirs === undefined ? {} : { kubernetesDirs: options.kubernetesDirs }),
    version,
    clock,
    random,
    log,
  });
}
