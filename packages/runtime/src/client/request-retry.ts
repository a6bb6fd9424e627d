import { ApiError, type ApiRequest, type ApiResponse, type Clock, sleep, type Transport } from "@capstan/apimachinery";
import { ForeignDocumentError } from "@capstan/apimachinery/foreign";
import { isStatus } from "./response-error.ts";

const MAX_RETRIES = 10;
const MAX_CONNECTION_RETRIES = 4;
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Sends a request and retries it where that is safe: a GET after a connection failure or a 5xx with Retry-After, and any request rejected
 * with 429 or 503 and Retry-After. Another failed write may have taken effect, so its caller decides.
 */
export async function requestWithRetry(
  transport: Transport,
  clock: Clock,
  request: ApiRequest,
  signal?: AbortSignal,
): Promise<ApiResponse> {
  let connectionFailures = 0;
  for (let attempt = 0; ; attempt++) {
    let response: ApiResponse;
    try {
      response = await transport.request(request, signal);
    } catch (error) {
      // An answer that is too long or too slow would be so again.
      const answered = error instanceof ApiError || error instanceof ForeignDocumentError;
      const repeat = request.method === "GET" && !answered && signal?.aborted !== true;
      if (!repeat || connectionFailures >= MAX_CONNECTION_RETRIES) throw error;
      await sleep(clock, 50 * 2 ** connectionFailures++, signal);
      continue;
    }
    const waitMs = attempt < MAX_RETRIES ? retryAfterMs(request, response) : undefined;
    if (waitMs === undefined) return response;
    await sleep(clock, waitMs, signal);
  }
}

/** How long the server asks to wait, if it did nothing or nothing that matters. */
function retryAfterMs({ method }: ApiRequest, response: ApiResponse): number | undefined {
  const turnedAway = response.status === 429 || response.status === 503;
  if (!turnedAway && !(method === "GET" && response.status >= 500)) return undefined;
  const header = response.headers["retry-after"];
  const seconds =
    header !== undefined && /^\d+$/.test(header)
      ? Number(header)
      : isStatus(response.body)
        ? response.body.details?.retryAfterSeconds
        : undefined;
  return seconds === undefined ? undefined : Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
}
