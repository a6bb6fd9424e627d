/** Thrown for an invalid key, certificate or request. The message names the input and what to do; it never contains key material. */
export class PkiError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "PkiError";
  }
}
