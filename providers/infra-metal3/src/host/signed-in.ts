import type { BareMetalHost } from "../kinds/bare-metal-host.ts";

/**
 * Which hosts have signed in to their management controller, as seen by this process. Anybody who may write a host can name any address,
 * and can write any status: only an answer of the management controller shows that a host is more than a name.
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
