/** Bytes that all requests of a server may hold in memory together. */
export class ByteBudget {
  readonly #max: number;
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes bytes for one request; `take` says whether they are granted, `release` gives all of them back. */
  share(): ByteShare {
    let held = 0;
    let released = false;
    return {
      take: (bytes) => {
        if (released || this.#used + bytes > this.#max) return false;
        this.#used += bytes;
        held += bytes;
        return true;
      },
      release: () => {
        released = true;
        this.#used -= held;
        held = 0;
      },
    };
  }
}

/** What one request holds of a budget. */
export interface ByteShare {
  take(bytes: number): boolean;
  release(): void;
}
