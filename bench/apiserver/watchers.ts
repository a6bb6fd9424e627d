/** The watchers of the lag measurement, in a process of their own so that neither creator nor server waits for them. */
import { connect } from "node:tls";
import type { Endpoint } from "../lib/https-client.ts";

export type WatchersRequest =
  | { do: "open"; endpoint: Endpoint; path: string; watchers: number; prefix: string }
  | { do: "collect"; expected: number; waitMs: number };

/** When each watcher saw each object, in milliseconds of the machine's monotonic clock, which all processes share. */
export type WatchersReply = { opened: true } | { seen: Record<string, number[]>; cpuSeconds: number };

/** The same clock in every process of the machine. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Longer than a name with its mark: so much of what was read may be the beginning of a name. */
const TAIL_BYTES = 128;

const seen: Record<string, number[]> = {};
let deliveries = 0;
let watchers = 0;
let cpuBefore = process.cpuUsage();

async function open(request: Extract<WatchersRequest, { do: "open" }>): Promise<void> {
  watchers = request.watchers;
  await Promise.all(Array.from({ length: watchers }, () => watch(request)));
  cpuBefore = process.cpuUsage();
  process.send?.({ opened: true });
}

/**
 * Reads a watch as bare bytes and looks for names in them: fifty watchers at 200 creates per second are 10,000 events per second, and a
 * client that parses them as HTTP and text keeps a processor busy, so that its own queue would be measured. Resolves once the
 * stream is open.
 */
function watch({ endpoint, path, prefix }: Extract<WatchersRequest, { do: "open" }>): Promise<void> {
  const { hostname, port } = new URL(endpoint.server);
  const { caPem: ca, certPem: cert, keyPem: key } = endpoint;
  const mark = Buffer.from(`"name":"${prefix}`);
  const nameAt = mark.length - Buffer.byteLength(prefix);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), ca, cert, key }, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: application/json\r\n\r\n`),
    );
    let rest: Buffer = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      const now = machineMs();
      if (rest.length === 0 && chunk.toString("latin1", 0, 12) === "HTTP/1.1 200") resolve();
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let from = 0;
      for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, from)) {
        const end = bytes.indexOf('"', at + mark.length);
        if (end < 0) break;
        (seen[bytes.toString("latin1", at + nameAt, end)] ??= []).push(now);
        deliveries++;
        from = end;
      }
      rest = bytes.subarray(Math.max(from, bytes.length - TAIL_BYTES));
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server ended a watch")));
  });
}

/** Responds when everything has arrived, or nothing more is expected. */
function collect(expected: number, waitMs: number): void {
  const until = machineMs() + waitMs;
  const poll = setInterval(() => {
    if (deliveries < expected * watchers && machineMs() < until) return;
    clearInterval(poll);
    const { user, system } = process.cpuUsage(cpuBefore);
    process.send?.({ seen, cpuSeconds: (user + system) / 1e6 });
  }, 50);
}

if (process.send !== undefined)
  process.on("message", (request: WatchersRequest) => {
    if (request.do === "collect") collect(request.expected, request.waitMs);
    else void open(request);
  });
