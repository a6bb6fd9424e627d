import { ApiError, type Transport } from "@capstan/apimachinery";
import type { RuntimeMetrics } from "./types.ts";

/** Counts requests like client-go's rest_client_requests_total, by code, method and host; the code is `<error>` without a response. */
export function measuredTransport(transport: Transport, metrics: RuntimeMetrics, host: string): Transport {
  const { upgrade } = transport;
  return {
    upgrade: upgrade?.bind(transport),
    async request(request, signal) {
      try {
        const response = await transport.request(request, signal);
        metrics.request(request.method, host, String(response.status));
        return response;
      } catch (error) {
        metrics.request(request.method, host, "<error>");
        throw error;
      }
    },
    async *watch(request, signal) {
      let counted = false;
      const count = (code: string): void => {
        if (!counted) metrics.request("GET", host, code);
        counted = true;
      };
      try {
        for await (const event of transport.watch(request, signal)) {
          count("200");
          yield event;
        }
        count("200");
      } catch (error) {
        count(error instanceof ApiError ? String(error.code) : "<error>");
        throw error;
      }
    },
    close: () => transport.close(),
  };
}
