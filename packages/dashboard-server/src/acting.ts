import type { ApiRequest, Clock, Transport } from "@capstan/apimachinery";
import type { ApiServer } from "@capstan/apiserver";
import { type ClientConfig, fixedCredentials, httpTransport } from "@capstan/runtime";
import type { ActingTransport } from "./server.ts";

/** Acts on the embedded API without a socket, through the same authentication and authorization. */
export function actingInProcess(api: Pick<ApiServer, "transport">): ActingTransport {
  return {
    asUser: (user) => api.transport(user),
    withToken: (token) => withBearer(api.transport(), token),
  };
}

/**
 * Acts on a management API that is a Kubernetes of its own: a token speaks for itself, and for a user who proved who it is otherwise the
 * manager asks to be taken for it, which its own rights must allow.
 */
export function actingOverHttp(config: ClientConfig, clock: Clock): ActingTransport {
  return {
    asUser: ({ name, uid, groups, extra }) =>
      httpTransport({ ...config, impersonate: { user: name, uid, groups, extra } }, { clock }),
    withToken: (token) => httpTransport({ ...config, credentials: fixedCredentials({ token }) }, { clock }),
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
