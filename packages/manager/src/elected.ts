import type { Transport } from "@capstan/apimachinery";
import type { CertificateAndKey } from "@capstan/pki";
import {
  Client,
  createIfAbsent,
  createMetrics,
  fencedTransport,
  kindRef,
  LeaderElector,
  LeadershipLostError,
  type Metrics,
  measuredTransport,
} from "@capstan/runtime";
import { type ManagerEndpoints, startEndpoints, type WantedAddress } from "./endpoints.ts";
import { type Manager, type ManagerOptions, startManager } from "./manager.ts";
import { kindsOf, PROVIDERS } from "./providers.ts";
import { sharedAuthority } from "./webhook-authority.ts";
import { type ServedBy, serveKinds } from "./webhooks.ts";

/** The Lease that managers of a management cluster compete for. */
const LEASE_NAME = "capstan-manager";

/** client-go's times, as the elector has them. */
const DEFAULT_DURATION_MS = 15_000;
const DEFAULT_DEADLINE_MS = 10_000;

/** Settings of the leader election between managers. */
export interface ElectionOptions {
  /** Where the Lease is, and with it the webhooks' authority. */
  readonly namespace: string;
  /** Unique for every process. */
  readonly identity: string;
  /** A separate transport, so that renewals do not wait behind the controllers' requests. */
  readonly transport: Transport;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
}

/** Settings of a manager that runs against a real Kubernetes. */
export interface ElectedOptions extends Omit<ManagerOptions, "servedBy" | "metrics"> {
  /** Without it the controllers start at once, even if another manager runs them too. */
  readonly election?: ElectionOptions;
  /** Host of the management API, as metrics name it. */
  readonly apiHost: string;
  readonly health?: WantedAddress;
  readonly metricsAddress?: WantedAddress;
  readonly version: string;
  /** Called when probes, metrics and webhooks are served, before leading. */
  onServing?(endpoints: ManagerEndpoints): void;
  /** Called when the controllers are running; the returned function is called before they stop. */
  onLead?(manager: Manager): Promise<() => Promise<void>>;
}

/**
 * Serves webhooks, probes and metrics, and runs the controllers while this process is the leader. Returns "stopped" when the signal aborts,
 * or "lost" when it lost leadership; the process must exit then.
 */
export async function runElected(options: ElectedOptions, signal: AbortSignal): Promise<"stopped" | "lost"> {
  const { clock, random, log, election } = options;
  const metrics = await createMetrics({ clock, process: true });
  const client = new Client(options.transport, { fieldManager: "capstan", clock });
  const elector = election === undefined ? undefined : electorOf(options, election);
  let leading = false;
  let servedBy: ServedBy | undefined;
  const endpoints = await startEndpoints({
    health: options.health,
    metricsAddress: options.metricsAddress,
    metrics,
    healthChecks: { "leader-election": () => failIf(leading && elector?.leads === false, "the lease has expired") },
    readyChecks: { webhooks: () => failIf(servedBy === undefined, "not served yet") },
    version: options.version,
    client,
    clock,
    random,
    log,
  });
  try {
    if (election !== undefined) await ensureNamespace(client, election.namespace);
    const authority = election === undefined ? {} : await authorityOf(options, client, election.namespace);
    servedBy = await serveKinds(
      options.kinds ?? "stored-version-only",
      client,
      kindsOf(options.providers ?? PROVIDERS),
      {
        clock,
        random,
        metrics,
        log,
        ...authority,
      },
    );
    options.onServing?.(endpoints);
    const lead = async (ends: AbortSignal): Promise<void> => {
      leading = true;
      metrics.leader(LEASE_NAME, true);
      await runControllers(options, { metrics, servedBy, elector }, ends);
      leading = false;
    };
    if (elector === undefined) {
      await lead(signal);
      return "stopped";
    }
    metrics.leader(LEASE_NAME, false);
    return await withinGrace(elector, lead, options, signal);
  } finally {
    await servedBy?.close();
    await endpoints.close();
  }
}

function electorOf(options: ElectedOptions, election: ElectionOptions): LeaderElector {
  const { clock, random, log } = options;
  const { namespace, identity, transport, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = election;
  return new LeaderElector({
    client: new Client(transport, { fieldManager: "capstan-leader-election", clock }),
    clock,
    random,
    log,
    namespace,
    name: LEASE_NAME,
    identity,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs,
  });
}

async function runControllers(
  options: ElectedOptions,
  parts: { metrics: Metrics; servedBy: ServedBy | undefined; elector: LeaderElector | undefined },
  ends: AbortSignal,
): Promise<void> {
  const { metrics, servedBy, elector } = parts;
  const measured = measuredTransport(options.transport, metrics, options.apiHost);
  const transport = elector === undefined ? measured : fencedTransport(measured, () => elector.leads);
  const manager = await startManager({
    ...options,
    transport,
    metrics,
    ...(servedBy === undefined ? {} : { servedBy }),
  });
  const close = await options.onLead?.(manager);
  if (!ends.aborted)
    await new Promise<void>((resolve) => ends.addEventListener("abort", () => resolve(), { once: true }));
  await close?.();
  await manager.stop();
}

/** Leads; once leadership is lost, what does not stop before another process can lead is abandoned. */
async function withinGrace(
  elector: LeaderElector,
  lead: (ends: AbortSignal) => Promise<void>,
  { clock, election }: ElectedOptions,
  signal: AbortSignal,
): Promise<"stopped" | "lost"> {
  const { leaseDurationMs = DEFAULT_DURATION_MS, renewDeadlineMs = DEFAULT_DEADLINE_MS } = election ?? {};
  let cancel = (): void => undefined;
  let giveUp: (outcome: "lost") => void = () => undefined;
  const tooLate = new Promise<"lost">((resolve) => {
    giveUp = resolve;
  });
  const finished = elector.run((ends) => {
    const lost = (): void => {
      if (ends.reason instanceof LeadershipLostError)
        cancel = clock.after(leaseDurationMs - renewDeadlineMs, () => giveUp("lost"));
    };
    ends.addEventListener("abort", lost, { once: true });
    return lead(ends);
  }, signal);
  return await Promise.race([finished, tooLate]).finally(() => cancel());
}

/** One authority for the webhooks of all managers, where any of them may be called. */
async function authorityOf(
  { kinds, clock, random }: ElectedOptions,
  client: Client,
  namespace: string,
): Promise<{ authority?: CertificateAndKey }> {
  if (typeof kinds !== "object") return {};
  return { authority: await sharedAuthority(client, namespace, { clock, random }) };
}

const Namespace = kindRef({ group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false });

async function ensureNamespace(client: Client, name: string): Promise<void> {
  if ((await client.get(Namespace, { name })) !== undefined) return;
  await createIfAbsent(client, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

function failIf(wrong: boolean, why: string): void {
  if (wrong) throw new Error(why);
}
