import { isIPAddress } from "@capstan/controlplane";

/** What is behind a name may change at any time, and nothing tells: it is looked up again after this. */
const RECHECK_MS = 60_000;

/** Where an API is, as addresses: what pods follow to `kubernetes.default` cannot be a name. */
export interface ApiAddresses {
  readonly addresses: readonly string[];
  /** When to look again. */
  readonly recheckMs?: number;
}

/** The addresses of an endpoint's host. A name that cannot be resolved gives none, until it can. */
export async function apiAddresses(
  host: string,
  resolve: ((host: string) => Promise<readonly string[]>) | undefined,
): Promise<ApiAddresses> {
  if (isIPAddress(host)) return { addresses: [host] };
  if (resolve === undefined) return { addresses: [] };
  const found = await resolve(host).catch(() => []);
  return { addresses: [...new Set(found)].toSorted(), recheckMs: RECHECK_MS };
}
