/** Names behind which real time, timers and chance hide. One list for every way to reach them. */

/** Members of globals; "*": all of them. */
export const MEMBERS = new Map([
  ["Date", ["now"]],
  ["Math", ["random"]],
  ["performance", "*"],
  ["crypto", "*"],
  ["AbortSignal", ["timeout"]],
  ["Atomics", ["wait", "waitAsync"]],
  ["process", ["hrtime", "uptime", "getBuiltinModule", "binding"]],
]);

/** What modules of Node export; "*": all of it. */
export const EXPORTS = new Map([
  ["timers", "*"],
  ["timers/promises", "*"],
  ["perf_hooks", "*"],
  ["module", ["createRequire"]],
  ["process", ["hrtime", "uptime", "getBuiltinModule", "binding"]],
  ["os", ["uptime"]],
  [
    "crypto",
    [
      "getRandomValues",
      "pseudoRandomBytes",
      "prng",
      "randomBytes",
      "randomFill",
      "randomFillSync",
      "randomInt",
      "randomUUID",
      "rng",
      "subtle",
      "webcrypto",
    ],
  ],
]);

/** Modules whose objects and functions keep timers of their own. */
export const TIMED_MODULES = new Set([
  "child_process",
  "dgram",
  "dns",
  "dns/promises",
  "http",
  "http2",
  "https",
  "net",
  "tls",
  "undici",
]);

/** Options and properties that set such timers. */
export const TIMER_OPTIONS = new Set([
  "timeout",
  "bodyTimeout",
  "connectTimeout",
  "connectionsCheckingInterval",
  "handshakeTimeout",
  "headersTimeout",
  "keepAliveTimeout",
  "requestTimeout",
]);

/** A module of Node's own has two names. */
export const bare = (name) => String(name).replace(/^node:/, "");

/** Whether a name is one of those of an entry. */
export const names = (entry, name) => entry === "*" || (entry !== undefined && entry.includes(name));
