import { ApiError, type ApiRequest, type ApiResponse, type Clock, sleep, type Transport } from "@capstan/apimachinery";
import { isStatus } from "./response-error.ts";

const MAX_RETRIES = 10;
const MAX_CONNECTION_RETRIES = 4;
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Sends a request and repeats it where that cannot do harm: a GET whose connection failed, and anything the server turned
 * away with 429 or 503 and a Retry-After (client-go repeats the same). A write whose connection broke may have happened, so
 * the caller has to decide.
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
      const repeat = request.method === "GET" && !(error instanceof ApiError) && signal?.aborted !== true;
      if (!repeat || connectionFailures >= MAX_CONNECTION_RETRIES) throw error;
      await sleep(clock, 50 * 2 ** connectionFailures++, signal);
      continue;
    }
    const waitMs = attempt < MAX_RETRIES ? retryAfterMs(response) : undefined;
    if (waitMs === undefined) return response;
    await sleep(clock, waitMs, signal);
  }
}

/** How long the server asks to wait, if it turned the request away. */
function retryAfterMs(response: ApiResponse): number | undefined {
  if (response.status !== 429 && response.status !== 503) return undefined;
  const header = response.headers["retry-after"];
  const seconds =
    header !== undefined && /^\d+$/.test(header)
      ? Number(header)
      : isStatus(response.body)
        ? response.body.details?.retryAfterSeconds
        : undefined;
  return seconds === undefined ? undefined : Math.min(seconds * 1000, MAX_RETRY_AFTER_MS);
}
