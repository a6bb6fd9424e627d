import { badRequest, goDurationError, parseDuration } from "@capstan/apimachinery";

/** The longest a request may take. kube-apiserver answers 504 after a minute; a write that took longer may still have happened. */
const MAX_MS = 60_000;

/** How long a request may take by its `timeout` parameter. As upstream, 0 and longer times mean the limit, nonsense is 400. */
export function requestTimeoutMs(query: URLSearchParams): number {
  const text = query.get("timeout") ?? "";
  if (text === "") return MAX_MS;
  const problem = goDurationError(text.slice(0, 200));
  if (problem !== undefined) throw badRequest(`invalid timeout specified in the request URL - ${problem}`);
  const ms = parseDuration(text);
  return ms > 0 ? Math.min(ms, MAX_MS) : MAX_MS;
}
