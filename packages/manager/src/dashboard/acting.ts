import type { ApiRequest, Transport } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import type { ActingTransport } from "./server.ts";

/** Acts on the embedded API without a socket, through the same authentication and authorization. */
export function actingInProcess(api: Pick<ApiServer, "transport">): ActingTransport {
  return {
    asUser: (user) => api.transport(user),
    withToken: (token) => withBearer(api.transport(), token),
  };
}

/** Sends a token with every request, so that one that is revoked stops to work at once. */
function withBearer(transport: Transport, token: string): Transport {
  const signed = (request: ApiRequest): ApiRequest => ({
    ...request,
    headers: { ...request.headers, authorization: `Bearer ${token}` },
  });
  return {
    request: (request, signal) => transport.request(signed(request), signal),
    watch: (request, signal) => transport.watch(signed(request), signal),
    close: () => transport.close(),
  };
}
