import { parseKey, type Request } from "@capstan/runtime";

/** Claims that found their pool empty, first come first served: each address that returns wakes one of them. */
export class Waiters {
  readonly #byPool = new Map<string, Set<string>>();
  readonly #poolOf = new Map<string, string>();
  #enqueue: (request: Request) => void = () => undefined;

  /** Where to send claims that are woken. */
  onWake(enqueue: (request: Request) => void): void {
    this.#enqueue = enqueue;
  }

  /** A claim waits for an address. */
  wait(pool: string, claim: string): void {
    this.gone(claim);
    const waiting = this.#byPool.get(pool) ?? new Set();
    waiting.add(claim);
    this.#byPool.set(pool, waiting);
    this.#poolOf.set(claim, pool);
  }

  /** A claim stops waiting. */
  gone(claim: string): void {
    const pool = this.#poolOf.get(claim);
    if (pool === undefined) return;
    this.#poolOf.delete(claim);
    const waiting = this.#byPool.get(pool);
    waiting?.delete(claim);
    if (waiting?.size === 0) this.#byPool.delete(pool);
  }

  /** Wakes one claim when an address is free. If it does not take the address, it wakes the next. */
  wake(pool: string): void {
    const [first] = this.#byPool.get(pool) ?? [];
    if (first === undefined) return;
    this.gone(first);
    this.#enqueue(parseKey(first));
  }
}
