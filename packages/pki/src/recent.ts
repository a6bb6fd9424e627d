/**
 * Caches what was parsed from recent texts: parsing a key or request costs as much as signing, and each is parsed several times in a row.
 */
export class Recent<T> {
  readonly #known = new Map<string, T>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** What `make` made of the text, now or lately; what it throws is not kept. */
  of(text: string, make: (text: string) => T): T {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const made = make(text);
    this.set(text, made);
    return made;
  }

  /** Stores the value of a text that the caller has already parsed. */
  set(text: string, made: T): void {
    const [oldest] = this.#known.size < this.#limit ? [] : this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(text, made);
  }
}
