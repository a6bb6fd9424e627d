import type { LookupAddress, LookupOptions } from "node:dns";
import { isIP } from "node:net";
import { formatIpAddress, type IpBytes } from "../schema/ip-address.ts";
import { type AddressRange, addressBytes, isIn, specialAddress, withInner } from "./address-class.ts";

/** The addresses behind a name. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>;

/** How sockets ask for the addresses of a name. */
export type Lookup = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/** Where something is that is to be dialled. */
export interface DialTarget {
  readonly host: string;
  readonly port: number;
}

/** Settings and dependencies of a gate. */
export interface DialGateOptions {
  /** Addresses that are dialled although they are special. */
  readonly allow: readonly AddressRange[];
  /** The addresses of this machine, as they are now. */
  readonly ownAddresses: () => readonly string[];
  readonly resolve: Resolve;
}

/** Thrown for an address from an object that this process must not dial. */
export class AddressRefused extends Error {
  readonly code = "ERR_ADDRESS_REFUSED";

  constructor(target: DialTarget, address: IpBytes, title: string) {
    const text = formatIpAddress(address);
    const range = address.length === 4 ? `${text}/32:${target.port}` : `[${text}/128]:${target.port}`;
    super(
      `${target.host} is ${title}, and the manager does not connect to such addresses on behalf of objects; use an address outside the management host, or start the manager with --allow-address ${range}`,
    );
    this.name = "AddressRefused";
  }
}

/**
 * Decides which addresses are dialled when tenants name them. Names are resolved here and sockets get the addresses that were checked, so
 * that an answer that changes between check and use changes nothing.
 */
export class DialGate {
  readonly #options: DialGateOptions;
  readonly #served = new Map<string, DialTarget>();

  constructor(options: DialGateOptions) {
    this.#options = options;
  }

  /** What this process serves itself for an owner, undefined once it has stopped: every tenant may be directed there. */
  serves(owner: string, target: DialTarget | undefined): void {
    if (target === undefined) this.#served.delete(owner);
    else this.#served.set(owner, target);
  }

  /** Options of a connection to a server. Throws AddressRefused when it is an address that is not dialled. */
  guard(target: DialTarget): { lookup: Lookup } {
    const host = bare(target.host);
    const literal = addressBytes(host);
    if (literal !== undefined) this.#check(literal, { ...target, host });
    // A socket looks up names only: what it takes for an address would never be checked.
    else if (isIP(host) !== 0) throw new Error(`${host} is not an address that can be checked`);
    return {
      lookup: (hostname, options, callback) => {
        this.addresses({ host: hostname, port: target.port }).then(
          (found) => answer(found, options, callback),
          (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ""),
        );
      },
    };
  }

  /** Options of a connection to the server of a URL. */
  guardUrl(url: string | URL): { lookup: Lookup } {
    return this.guard(targetOf(url));
  }

  /** The addresses of a server that may be dialled; throws AddressRefused when there are others only. */
  async addresses(target: DialTarget): Promise<LookupAddress[]> {
    const host = bare(target.host);
    const allowed: LookupAddress[] = [];
    let refused: unknown;
    for (const found of await this.#options.resolve(host)) {
      const bytes = addressBytes(found.address);
      try {
        if (bytes === undefined) throw new Error(`${host} resolves to ${found.address}, which is not an IP address`);
        this.#check(bytes, { host, port: target.port });
        allowed.push(found);
      } catch (error) {
        refused ??= error;
      }
    }
    if (allowed.length > 0) return allowed;
    throw refused ?? Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND", hostname: host });
  }

  #check(bytes: IpBytes, target: DialTarget): void {
    const own = this.#isOwn(bytes);
    const title = specialAddress(bytes) ?? (own ? "an address of the management host" : undefined);
    if (title === undefined) return;
    const { allow } = this.#options;
    if (allow.some((range) => isIn(bytes, range) && (range.port ?? target.port) === target.port)) return;
    // Only what listens on this machine can be meant by an address that a control plane of ours was given.
    if ((own || title === "a loopback address") && this.#isServed(bytes, target.port)) return;
    throw new AddressRefused(target, bytes, title);
  }

  #isOwn(bytes: IpBytes): boolean {
    const own = this.#options.ownAddresses().flatMap((text) => addressBytes(text) ?? []);
    return withInner(bytes).some((one) => own.some((other) => isIn(one, { address: other, bits: other.length * 8 })));
  }

  #isServed(bytes: IpBytes, port: number): boolean {
    for (const { host, port: served } of this.#served.values()) {
      if (served !== port) continue;
      const bound = addressBytes(bare(host));
      // A name stands for an address of this machine, or nothing could listen there; the unspecified address for all of them.
      if (bound === undefined || bound.every((byte) => byte === 0)) return true;
      if (isIn(bytes, { address: bound, bits: bound.length * 8 })) return true;
    }
    return false;
  }
}

/** Host and port of a URL. */
export function targetOf(url: string | URL): DialTarget {
  const { hostname, port, protocol } = new URL(url);
  const standard = ({ "https:": 443, "http:": 80, "socks5:": 1080 } as Record<string, number>)[protocol] ?? 0;
  return { host: bare(hostname), port: port === "" ? standard : Number(port) };
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

function answer(found: readonly LookupAddress[], options: LookupOptions, callback: Parameters<Lookup>[2]): void {
  const wanted =
    options.family === 4 || options.family === 6 ? found.filter((one) => one.family === options.family) : found;
  const [first] = wanted;
  if (options.all === true) callback(null, [...wanted]);
  else if (first === undefined)
    callback(Object.assign(new Error("no address of that family"), { code: "ENOTFOUND" }), "");
  else callback(null, first.address, first.family);
}
