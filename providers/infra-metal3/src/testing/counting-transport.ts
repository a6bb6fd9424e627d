import type { ApiRequest, ApiResponse, Transport, WatchEvent } from "@capstan/apimachinery";

/** Counts writes that succeed, events left out, and cuts the line after a given number of them. */
export class CountingTransport implements Transport {
  writes = 0;
  readonly #inner: Transport;
  readonly #cutAfter: number;

  constructor(inner: Transport, cutAfter = Number.POSITIVE_INFINITY) {
    this.#inner = inner;
    this.#cutAfter = cutAfter;
  }

  async request(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    if (this.writes >= this.#cutAfter) throw new Error("connection refused");
    const response = await this.#inner.request(request, signal);
    if (request.method === "GET" || response.status >= 300) return response;
    this.writes++;
    // The write that cut the line was carried out, but nobody hears of it.
    if (this.writes >= this.#cutAfter) throw new Error("connection reset by peer");
    return response;
  }

  watch(request: ApiRequest, signal?: AbortSignal): AsyncIterable<WatchEvent> {
    return this.#inner.watch(request, signal);
  }

  async close(): Promise<void> {}
}
