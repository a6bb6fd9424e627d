/** Input that is no usable key, certificate or request. The message names what was read and what to do; it never holds key material. */
export class PkiError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "PkiError";
  }
}
