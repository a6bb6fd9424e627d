import type { Clock } from "@capstan/apimachinery";

/** Things that become due at a time of their own, with one timer for the next of them and none when there are none. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #onDue: (key: string) => void;
  readonly #due = new Map<string, number>();
  #timer: { at: number; cancel: () => void } | undefined;

  constructor(clock: Clock, onDue: (key: string) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** Sets or, with undefined, removes the time of a key. */
  set(key: string, at: number | undefined): void {
    if (at === undefined) this.#due.delete(key);
    else this.#due.set(key, at);
    this.#arm();
  }

  idle(): boolean {
    return this.#due.size === 0;
  }

  stop(): void {
    this.#due.clear();
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    let next: number | undefined;
    for (const at of this.#due.values()) if (next === undefined || at < next) next = at;
    if (next === this.#timer?.at) return;
    this.#timer?.cancel();
    this.#timer =
      next === undefined
        ? undefined
        : { at: next, cancel: this.#clock.after(next - this.#clock.now(), () => this.#fire()) };
  }

  #fire(): void {
    this.#timer = undefined;
    const now = this.#clock.now();
    const ready = [...this.#due].filter(([, at]) => at <= now).map(([key]) => key);
    for (const key of ready) this.#due.delete(key);
    this.#arm();
    for (const key of ready) this.#onDue(key);
  }
}
