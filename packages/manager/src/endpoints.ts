import type { Clock, Random } from "@capstan/apimachinery";
import { isLoopback } from "@capstan/dashboard-server";
import {
  type Check,
  type Client,
  type Endpoint,
  type EndpointAddress,
  type Logger,
  listenForMetrics,
  listenForProbes,
  type Metrics,
  reviewedAccess,
} from "@capstan/runtime";
import { createServingAuthority, issueServing, keepRenewed } from "./serving-certificate.ts";

/** An address to listen on; `anyPort` falls back to a free port if this one is in use. */
export interface WantedAddress extends EndpointAddress {
  readonly anyPort?: boolean;
}

/** Addresses and contents of the manager's probe and metrics endpoints. */
export interface EndpointOptions {
  readonly health?: WantedAddress | undefined;
  readonly metricsAddress?: WantedAddress | undefined;
  readonly metrics: Metrics;
  readonly healthChecks: Readonly<Record<string, Check>>;
  readonly readyChecks: Readonly<Record<string, Check>>;
  readonly version: string;
  /** Asks the API server who may read metrics. */
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** The running probe and metrics endpoints, with the addresses that they listen on. */
export interface ManagerEndpoints {
  readonly healthUrl?: string;
  readonly metricsUrl?: string;
  close(): Promise<void>;
}

/** Serves probes and metrics: metrics in plain HTTP on loopback, elsewhere over TLS and only to clients that the API server authorizes. */
export async function startEndpoints(options: EndpointOptions): Promise<ManagerEndpoints> {
  const { health, metricsAddress } = options;
  const open: Endpoint[] = [];
  const ends: (() => void)[] = [];
  const close = async (): Promise<void> => {
    for (const end of ends) end();
    await Promise.all(open.map((endpoint) => endpoint.close()));
  };
  try {
    const probes = health === undefined ? undefined : await listening(health, (address) => probesAt(address, options));
    if (probes !== undefined) open.push(probes);
    const figures =
      metricsAddress === undefined
        ? undefined
        : await listening(metricsAddress, (address) => metricsAt(address, options, ends));
    if (figures !== undefined) open.push(figures);
    return {
      ...(probes === undefined ? {} : { healthUrl: urlOf("http", health, probes.port) }),
      ...(figures === undefined
        ? {}
        : { metricsUrl: `${urlOf(isOpen(metricsAddress) ? "http" : "https", metricsAddress, figures.port)}/metrics` }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listening(
  { anyPort, ...address }: WantedAddress,
  listen: (address: EndpointAddress) => Promise<Endpoint>,
): Promise<Endpoint> {
  return await listen(address).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE" && anyPort === true)
      return listen({ ...address, port: 0 });
    throw error;
  });
}

async function probesAt(address: EndpointAddress, options: EndpointOptions): Promise<Endpoint> {
  const version = { gitVersion: `v${options.version}`, platform: `${process.platform}/${process.arch}` };
  return await listenForProbes({
    address,
    clock: options.clock,
    version,
    health: options.healthChecks,
    ready: options.readyChecks,
  });
}

async function metricsAt(address: EndpointAddress, options: EndpointOptions, ends: (() => void)[]): Promise<Endpoint> {
  const { metrics, client, clock, random, log } = options;
  if (isOpen(address)) return await listenForMetrics({ address, metrics, clock });
  const ca = await createServingAuthority("capstan-metrics", { clock, random });
  const names = address.host === undefined ? [] : [address.host];
  const issue = () => issueServing(ca, "capstan-metrics", names, { clock, random });
  const secured = { tls: await issue(), access: reviewedAccess(client, { clock, log }) };
  const endpoint = await listenForMetrics({ address, metrics, clock, secured });
  ends.push(keepRenewed(issue, (next) => endpoint.renew(next), { clock, metrics }));
  return endpoint;
}

/** Any user of this machine may read the metrics, which contain names of objects and no secrets. */
function isOpen(address: EndpointAddress | undefined): boolean {
  return address?.host !== undefined && isLoopback(address.host);
}

function urlOf(scheme: string, address: EndpointAddress | undefined, port: number): string {
  const host = address?.host ?? "0.0.0.0";
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
