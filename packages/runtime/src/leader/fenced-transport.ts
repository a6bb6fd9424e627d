import type { ApiRequest, Transport } from "@capstan/apimachinery";
import { LeadershipLostError } from "./leader-elector.ts";

/**
 * Lets writes through only while this process leads, checked at each of them: a process that was stopped for a while, or whose
 * timers are late, writes nothing that crosses what its successor writes.
 */
export function fencedTransport(transport: Transport, leads: () => boolean): Transport {
  const { upgrade } = transport;
  const check = ({ method, path }: ApiRequest): void => {
    if (method !== "GET" && !leads())
      throw new LeadershipLostError(`leadership was lost: ${method} ${path} is not sent`);
  };
  return {
    ...(upgrade === undefined ? {} : { upgrade: upgrade.bind(transport) }),
    async request(request, signal) {
      check(request);
      return await transport.request(request, signal);
    },
    watch: (request, signal) => transport.watch(request, signal),
    close: () => transport.close(),
  };
}
