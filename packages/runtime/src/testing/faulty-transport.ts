import {
  type ApiError,
  expired,
  type Random,
  randomFloat,
  randomInt,
  type Transport,
  type Unstructured,
  type WatchEvent,
} from "@capstan/apimachinery";

/** How often what goes wrong, each between 0 and 1. What is absent does not happen. */
export interface Faults {
  /** A request never reaches the server. */
  readonly refused?: number;
  /** A request is carried out but its answer is lost. */
  readonly answerLost?: number;
  /** A watch is refused, as if the server were away. */
  readonly watchRefused?: number;
  /** A watch from a revision gets "too old": as an error at once, or as an ERROR event. */
  readonly expired?: number;
  /** After an event a watch breaks with an error. */
  readonly cut?: number;
  /** After an event a watch closes as if it had timed out. */
  readonly ended?: number;
}

/** A transport that fails as networks and servers do, decided by a seed. */
export class FaultyTransport implements Transport {
  faults: Faults;
  readonly #inner: Transport;
  readonly #random: Random;
  readonly #cuts = new Set<(error: Error) => void>();
  #down = false;

  constructor(inner: Transport, random: Random, faults: Faults = {}) {
    this.#inner = inner;
    this.#random = random;
    this.faults = faults;
  }

  /** Whether the server seems to be away; going down breaks all watches. */
  set down(down: boolean) {
    this.#down = down;
    if (!down) return;
    for (const cut of this.#cuts) cut(new Error("connection reset by peer"));
  }

  get down(): boolean {
    return this.#down;
  }

  async request(...[request, signal]: Parameters<Transport["request"]>): ReturnType<Transport["request"]> {
    if (this.#down || this.#happens(this.faults.refused)) throw new Error("connection refused");
    const response = await this.#inner.request(request, signal);
    if (this.#happens(this.faults.answerLost)) throw new Error("connection reset by peer");
    return response;
  }

  async *watch(...[request, signal]: Parameters<Transport["watch"]>): AsyncGenerator<WatchEvent> {
    if (this.#down || this.#happens(this.faults.watchRefused)) throw new Error("connection refused");
    if (request.query?.["resourceVersion"] !== undefined && this.#happens(this.faults.expired)) {
      if (randomInt(this.#random, 2) === 0) throw tooOld();
      yield { type: "ERROR", object: { ...tooOld().status } as unknown as Unstructured };
      return;
    }
    const stop = new AbortController();
    let broken: Error | undefined;
    const cut = (error?: Error): void => {
      broken = error;
      stop.abort();
    };
    const abort = (): void => cut();
    signal?.addEventListener("abort", abort, { once: true });
    this.#cuts.add(cut);
    try {
      for await (const event of this.#inner.watch(request, stop.signal)) {
        // What was in flight when the line broke never arrives.
        if (broken !== undefined) break;
        yield event;
        if (this.#happens(this.faults.cut)) cut(new Error("connection reset by peer"));
        else if (this.#happens(this.faults.ended)) return;
      }
      if (broken !== undefined) throw broken;
    } finally {
      this.#cuts.delete(cut);
      signal?.removeEventListener("abort", abort);
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #happens(chance: number | undefined): boolean {
    return chance !== undefined && randomFloat(this.#random) < chance;
  }
}

function tooOld(): ApiError {
  return expired("too old resource version: 1 (2)");
}
