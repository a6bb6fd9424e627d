import { isIPAddress } from "@capstan/controlplane";

/** The addresses of a name may change at any time without an event, so it is resolved again after this time. */
const RECHECK_MS = 60_000;

/** The IP addresses of an API endpoint; the endpoints of `kubernetes.default` cannot be host names. */
export interface ApiAddresses {
  readonly addresses: readonly string[];
  /** When to resolve again. */
  readonly recheckMs?: number;
}

/** Resolves the host of an endpoint. A name that cannot be resolved yields no addresses until it can. */
export async function apiAddresses(
  host: string,
  resolve: ((host: string) => Promise<readonly string[]>) | undefined,
): Promise<ApiAddresses> {
  if (isIPAddress(host)) return { addresses: [host] };
  if (resolve === undefined) return { addresses: [] };
  const found = await resolve(host).catch(() => []);
  return { addresses: [...new Set(found)].toSorted(), recheckMs: RECHECK_MS };
}
