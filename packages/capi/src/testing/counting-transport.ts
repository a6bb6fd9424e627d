import type { ApiRequest, ApiResponse, Transport, WatchEvent } from "@capstan/apimachinery";

/** Counts writes, and cuts the line after a given number of them: what a killed process leaves behind. */
export class CountingTransport implements Transport {
  writes = 0;
  readonly #inner: Transport;
  readonly #cutAfter: number;

  constructor(inner: Transport, cutAfter = Number.POSITIVE_INFINITY) {
    this.#inner = inner;
    this.#cutAfter = cutAfter;
  }

  /** Whether the line is cut. */
  get cut(): boolean {
    return this.writes >= this.#cutAfter;
  }

  async request(request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> {
    if (this.cut) throw new Error("connection refused");
    const response = await this.#inner.request(request, signal);
    if (request.method === "GET") return response;
    if (response.status < 300) this.writes++;
    // The write that cut the connection was performed, but its response is lost.
    if (this.cut) throw new Error("connection reset by peer");
    return response;
  }

  async *watch(request: ApiRequest, signal?: AbortSignal): AsyncIterable<WatchEvent> {
    for await (const event of this.#inner.watch(request, signal)) {
      if (this.cut) throw new Error("connection reset by peer");
      yield event;
    }
  }

  async close(): Promise<void> {}
}
