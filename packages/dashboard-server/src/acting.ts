import type { ApiRequest, Clock, Transport } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { type ClientConfig, fixedCredentials, httpTransport } from "@capstan/runtime";
import type { ActingTransport } from "./server.ts";

/** Reaches the embedded API as a user without a socket, through the same authentication and authorization. */
export function actingInProcess(api: Pick<ApiServer, "transport">): ActingTransport {
  return {
    asUser: (user) => api.transport(user),
    withToken: (token) => withBearer(api.transport(), token),
  };
}

/**
 * Reaches a real Kubernetes as a user: with the user's own token, or by impersonating a user who signed in another way, for which the
 * manager needs the permission.
 */
export function actingOverHttp(config: ClientConfig, clock: Clock): ActingTransport {
  return {
    asUser: ({ name, uid, groups, extra }) =>
      httpTransport({ ...config, impersonate: { user: name, uid, groups, extra } }, { clock }),
    withToken: (token) => httpTransport({ ...config, credentials: fixedCredentials({ token }) }, { clock }),
  };
}

/** Sends a token with every request, so that a revoked one stops working at once. */
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
