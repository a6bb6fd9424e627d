import type { ApiRequest, Transport } from "@capstan/apimachinery";
import { LeadershipLostError } from "./leader-elector.ts";

/**
 * Rejects writes unless this process is the leader, checked for each write: a process that was suspended or whose timers are late cannot
 * interfere with its successor.
 */
export function fencedTransport(transport: Transport, leads: () => boolean): Transport {
  const { upgrade } = transport;
  const check = ({ method, path }: ApiRequest): void => {
    if (method !== "GET" && !leads())
      throw new LeadershipLostError(`leadership was lost: ${method} ${path} is not sent`);
  };
  return {
    upgrade: upgrade?.bind(transport),
    async request(request, signal) {
      check(request);
      return await transport.request(request, signal);
    },
    watch: (request, signal) => transport.watch(request, signal),
    close: () => transport.close(),
  };
}
