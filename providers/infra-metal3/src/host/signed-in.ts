import type { BareMetalHost } from "../kinds/bare-metal-host.ts";

/**
 * Tracks which hosts this process has logged in to. Whoever may write a BareMetalHost can name any address and status; only a response of
 * the management controller proves that the host is real.
 */
export class SignedIn {
  /** By UID: the address that the host has signed in to; undefined for one that was tried without success. */
  readonly #known = new Map<string, string | undefined>();

  /** A pass over the host has ended. */
  tried({ metadata: { uid = "" } }: BareMetalHost): void {
    if (!this.#known.has(uid)) this.#known.set(uid, undefined);
  }

  /** The management controller has accepted the host's credentials. */
  succeeded({ metadata: { uid = "" }, spec }: BareMetalHost): void {
    this.#known.set(uid, spec.bmc?.address);
  }

  /** The management controller has not accepted them. */
  failed({ metadata: { uid = "" } }: BareMetalHost): void {
    this.#known.set(uid, undefined);
  }

  forget(uid: string): void {
    this.#known.delete(uid);
  }

  /** Undefined until the host has been tried. */
  has({ metadata: { uid = "" }, spec }: BareMetalHost): boolean | undefined {
    if (!this.#known.has(uid)) return undefined;
    const address = this.#known.get(uid);
    return address !== undefined && address === spec.bmc?.address;
  }
}
