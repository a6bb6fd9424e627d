import type { IncomingMessage } from "node:http";
import type { Clock } from "@capstan/apimachinery";
import type { Metrics } from "../metrics/prometheus.ts";
import { type Endpoint, type EndpointAddress, type EndpointTls, NOT_FOUND, serveEndpoint } from "./http-endpoint.ts";

/** Whether a request may read the metrics. */
export type Access = "allowed" | "unauthenticated" | "forbidden";

/** Authenticates and authorizes a request for a path. */
export type CheckAccess = (request: IncomingMessage, path: string) => Promise<Access>;

/** Serves /metrics, either to every client or over TLS to clients that `access` allows. */
export async function listenForMetrics(options: {
  readonly address: EndpointAddress;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly secured?: { readonly tls: EndpointTls; readonly access: CheckAccess } | undefined;
}): Promise<Endpoint> {
  const { metrics, secured } = options;
  return await serveEndpoint(
    options.address,
    async (request) => {
      const path = new URL(request.url ?? "/", "http://metrics").pathname;
      const access = (await secured?.access(request, path)) ?? "allowed";
      if (access === "unauthenticated")
        return {
          status: 401,
          type: "text/plain",
          body: "Unauthorized\n",
          headers: { "www-authenticate": "Bearer" },
        };
      if (access === "forbidden") return { status: 403, type: "text/plain", body: "Forbidden\n" };
      if (path !== "/metrics") return NOT_FOUND;
      const { contentType, body } = await metrics.text();
      return { status: 200, type: contentType, body };
    },
    options.clock,
    secured?.tls,
  );
}
