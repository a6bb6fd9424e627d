import { redact } from "./redact.ts";

const MASK = "***";
const BEGIN_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const MAX_HELD = 64 * 1024;
const TRIES = 4;
/** Possible continuations: if one of these would be redacted, the text before it may be the start of a secret. */
const PROBES = ["zq9", ": zq9", "=zq9", '"zq9'];

/** Streams command output without secrets, holding back a chunk's end that could be the start of a secret. */
export class LiveOutput {
  #held = "";
  /** In a line that is too long to be looked at. */
  #skips = false;

  /** What can be shown now. Whole lines. */
  push(piece: string): string {
    if (this.#skips) {
      const next = piece.indexOf("\n");
      if (next < 0) return "";
      this.#skips = false;
      this.#held = MASK + piece.slice(next);
    } else this.#held += piece;
    let end = this.#held.length;
    for (let tries = 0; tries < TRIES; tries++) {
      const cut = this.#held.lastIndexOf("\n", end - 1) + 1;
      if (cut === 0) break;
      const part = this.#held.slice(0, cut);
      const shown = redact(part);
      if (PROBES.every((probe) => redact(part + probe) === shown + probe)) {
        this.#held = this.#held.slice(cut);
        return shown;
      }
      // Before the key that has not ended, or else one line up.
      end = Math.min(cut - 1, openKey(part) ?? cut);
      if (end <= 0) break;
    }
    if (this.#held.length > MAX_HELD) this.#drop();
    return "";
  }

  /** The rest, when no more comes. */
  end(): string {
    const rest = this.#skips ? MASK : redact(this.#held);
    this.#held = "";
    this.#skips = false;
    return rest;
  }

  /** For an unterminated key or an overlong line, only the fact is kept. */
  #drop(): void {
    const key = BEGIN_KEY.exec(this.#held)?.[0];
    this.#skips = key === undefined;
    this.#held = key ?? "";
  }
}

/** Where a private key begins that does not end. */
function openKey(text: string): number | undefined {
  const begin = text.lastIndexOf("-----BEGIN ");
  return begin >= 0 && BEGIN_KEY.test(text.slice(begin)) ? begin : undefined;
}
