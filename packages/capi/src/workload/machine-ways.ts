import { isIP } from "node:net";
import { type ConnectionOptions, checkServerIdentity, connect, type TLSSocket } from "node:tls";
import type { Clock } from "@capstan/apimachinery";
import { type DialGate, type DialTarget, targetOf } from "@capstan/apimachinery/foreign";
import { type ClientConfig, firstAnswer } from "@capstan/runtime";
import type { Machine } from "../kinds/machine.ts";

/** Where kubeadm lets the API server of a Machine listen, unless the port of the endpoint is used. */
const API_PORT = 6443;
const HEAD_START_MS = 300;
const WAY_LIMIT_MS = 6_000;
/** Addresses of one Machine, and of all Machines together: tenants may list any number. */
const MAX_ADDRESSES = 4;
const MAX_TARGETS = 24;

/** Dependencies of throughMachines. */
export interface MachineWaysDeps {
  readonly clock: Clock;
  /** Decides about the addresses of Machines, which infrastructure providers and tenants write. */
  readonly gate: DialGate;
  /** The control plane Machines, read anew for each connection. */
  readonly machines: () => readonly Machine[];
}

/**
 * The same API server as that of a configuration, at the Machines of its control plane: for a cluster whose endpoint is dead. Whoever
 * answers there proves itself with a certificate of the cluster's authority for the endpoint's name, so that no foreign program at an
 * address that a Machine once had gets the credentials. Throws for a configuration without such a proof.
 */
export function throughMachines(config: ClientConfig, deps: MachineWaysDeps): ClientConfig {
  const { server, tls, proxyUrl } = config;
  if (!server.startsWith("https://") || tls?.caPem === undefined || tls.insecure === true)
    throw new Error("the kubeconfig has no authority that a Machine could prove itself with");
  if (proxyUrl !== undefined) throw new Error("the kubeconfig names a proxy, which decides what is reached");
  const endpoint = targetOf(server);
  const name = tls.serverName ?? endpoint.host;
  return {
    ...config,
    connect: async (options) => {
      const targets = targetsOf(deps.machines(), endpoint.port);
      if (targets.length === 0) throw new Error("no control plane Machine with a Node reports an IP address");
      const ways = targets.map((target) => ({
        name: `${target.host} port ${target.port}`,
        run: (signal: AbortSignal) => proven(target, name, options, deps.gate, signal),
      }));
      const { value } = await firstAnswer(ways, {
        clock: deps.clock,
        headStartMs: HEAD_START_MS,
        limitMs: WAY_LIMIT_MS,
        discard: (socket) => socket.destroy(),
      });
      return value;
    },
  };
}

/** Only Machines that have joined: a control plane that has never answered at its endpoint is not started without it. */
function targetsOf(machines: readonly Machine[], endpointPort: number): DialTarget[] {
  const joined = machines.filter(({ status }) => status?.nodeRef !== undefined);
  const targets = [...new Set([API_PORT, endpointPort])].flatMap((port) =>
    joined.flatMap(({ status }) => {
      const addresses = (status?.addresses ?? []).map(({ address }) => address).filter((text) => isIP(text) !== 0);
      return [...new Set(addresses)].slice(0, MAX_ADDRESSES).map((host) => ({ host, port }));
    }),
  );
  return targets.slice(0, MAX_TARGETS);
}

async function proven(
  target: DialTarget,
  name: string,
  options: ConnectionOptions,
  gate: DialGate,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const guard = gate.guard(target);
  return await new Promise((resolve, reject) => {
    const socket = connect({
      ...options,
      ...target,
      ...guard,
      // An address is no name that TLS may ask for; it is compared with the certificate all the same.
      servername: isIP(name) === 0 ? name : "",
      checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
      ALPNProtocols: ["http/1.1"],
    });
    socket.setNoDelay(true).setKeepAlive(true, 15_000);
    const stop = (): void => {
      socket.destroy();
      reject(signal.reason);
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      signal.removeEventListener("abort", stop);
      socket.removeListener("error", reject);
      resolve(socket);
    });
  });
}
