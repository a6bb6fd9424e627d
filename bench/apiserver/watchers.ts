/** The watchers of the lag measurement, in a process of their own so that neither creator nor server waits for them. */
import { type Endpoint, HttpsClient } from "../lib/https-client.ts";

export type WatchersRequest =
  | { do: "open"; endpoint: Endpoint; path: string; watchers: number; prefix: string }
  | { do: "collect"; expected: number; waitMs: number };

/** When each watcher saw each object, in milliseconds of the machine's monotonic clock, which all processes share. */
export type WatchersReply = { opened: true } | { seen: Record<string, number[]> };

/** The same clock in every process of the machine. */
export function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

const seen: Record<string, number[]> = {};
let deliveries = 0;
let watchers = 0;

async function open(request: Extract<WatchersRequest, { do: "open" }>): Promise<void> {
  watchers = request.watchers;
  const client = new HttpsClient(request.endpoint, watchers);
  const mark = `"name":"${request.prefix}`;
  const onLine = (line: string): void => {
    const at = line.indexOf(mark);
    if (at < 0) return;
    const start = at + '"name":"'.length;
    const name = line.slice(start, line.indexOf('"', start));
    (seen[name] ??= []).push(machineMs());
    deliveries++;
  };
  await Promise.all(Array.from({ length: watchers }, () => client.watch(request.path, onLine)));
  process.send?.({ opened: true });
}

/** Answers when everything has arrived, or nothing more is to be hoped for. */
function collect(expected: number, waitMs: number): void {
  const until = machineMs() + waitMs;
  const poll = setInterval(() => {
    if (deliveries < expected * watchers && machineMs() < until) return;
    clearInterval(poll);
    process.send?.({ seen });
  }, 50);
}

if (process.send !== undefined)
  process.on("message", (request: WatchersRequest) => {
    if (request.do === "collect") collect(request.expected, request.waitMs);
    else void open(request);
  });
