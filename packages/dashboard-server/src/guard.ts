import type { IncomingHttpHeaders } from "node:http";

/** The response to a request that is rejected before it is processed. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** The scheme and host names under which this server is reached. */
export interface GuardOptions {
  readonly scheme: "http" | "https";
  /** Accepted host names, in addition to localhost and IP addresses. */
  readonly names: readonly string[];
}

/**
 * Rejects cross-site requests. The Host must be an IP address, localhost or a configured name, which prevents DNS rebinding; requests that
 * write or read data must come from the dashboard itself.
 */
export function guard(
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
  options: GuardOptions,
): Refusal | undefined {
  const host = headers.host ?? "";
  if (!hostAllowed(host, options.names))
    return {
      status: 421,
      message: `this server does not serve host ${JSON.stringify(host)}; use its address or localhost`,
    };
  const site = headers["sec-fetch-site"];
  const own = `${options.scheme}://${host}`;
  const writes = method !== "GET" && method !== "HEAD";
  if (headers.origin !== undefined && headers.origin !== own)
    return { status: 403, message: "requests from other origins are refused" };
  if (writes && headers.origin === undefined)
    return { status: 403, message: "a write request must have an Origin header" };
  const page = path === "/" || path.startsWith("/assets/") || !isData(path);
  if (site !== undefined && site !== "same-origin" && (writes || !page))
    return { status: 403, message: "requests from other sites are refused" };
  return undefined;
}

/** Returns whether a path serves data rather than the dashboard's own files. */
export function isData(path: string): boolean {
  return /^\/(auth|k8s|stream|kubeconfig|control-planes|providers|plan)(\/|$)/.test(path);
}

function hostAllowed(host: string, names: readonly string[]): boolean {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(host);
  const name = match?.[1]?.toLowerCase();
  if (name === undefined) return false;
  return name === "localhost" || name.startsWith("[") || /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || names.includes(name);
}

/** Returns the headers of every response. `nonce` allows the dashboard's own style elements; inline scripts are never allowed. */
export function securityHeaders(nonce: string | undefined): Record<string, string> {
  const style = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
  return {
    "content-security-policy": [
      "default-src 'none'",
      "script-src 'self'",
      `style-src ${style}`,
      "img-src 'self' data:",
      "font-src 'self'",
      "connect-src 'self'",
      "manifest-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
  };
}
