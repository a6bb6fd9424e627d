import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Metrics } from "../metrics/prometheus.ts";

/** Resolves when all is well; throws an error whose message says what is not. */
export type Check = () => void | Promise<void>;

/** What the endpoints show. */
export interface ProbeOptions {
  /** Whether the process should be restarted, by name of check. */
  readonly health?: Readonly<Record<string, Check>> | undefined;
  /** Whether the process does its work, by name of check. */
  readonly ready?: Readonly<Record<string, Check>> | undefined;
  /** The answer of /version, shaped like Kubernetes' own. */
  readonly version: Readonly<Record<string, string>>;
  readonly metrics?: Metrics | undefined;
}

/** Answers GET /healthz, /livez, /readyz, /version and /metrics; false if the path is none of them. */
export type ProbeHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Makes the handler, to be mounted on a server of one's own or by `listenForProbes`. */
export function probeHandler(options: ProbeOptions): ProbeHandler {
  const checks = (all: Readonly<Record<string, Check>> | undefined): Readonly<Record<string, Check>> => ({
    ping: () => undefined,
    ...all,
  });
  const groups: Record<string, Readonly<Record<string, Check>>> = {
    healthz: checks(options.health),
    livez: checks(options.health),
    readyz: checks(options.ready),
  };
  return (request, response) => {
    const url = new URL(request.url ?? "/", "http://probe");
    const [, group = "", single] = url.pathname.split("/");
    const respond = (work: Promise<Answer>): boolean => {
      void work.then((answer) => send(request, response, answer)).catch(() => response.destroy());
      return true;
    };
    if (Object.hasOwn(groups, group)) {
      return respond(runChecks(group, groups[group] ?? {}, single, url.searchParams));
    }
    if (url.pathname === "/version") return respond(Promise.resolve(json(options.version)));
    if (url.pathname === "/metrics" && options.metrics !== undefined) return respond(metricsPage(options.metrics));
    return false;
  };
}

/** Serves the endpoints alone on an address; port 0 takes a free one. */
export async function listenForProbes(
  options: ProbeOptions & { host: string; port: number },
): Promise<{ port: number; close: () => Promise<void> }> {
  const handle = probeHandler(options);
  const server = createServer((request, response) => {
    if (!handle(request, response)) send(request, response, { status: 404, type: "text/plain", body: "not found\n" });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => resolve());
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Answer {
  status: number;
  type: string;
  body: string;
}

/** Names which checks fail, never why: probes are open to all. The reason is in the log of the part that fails. */
async function runChecks(
  group: string,
  checks: Readonly<Record<string, Check>>,
  single: string | undefined,
  query: URLSearchParams,
): Promise<Answer> {
  const names = single === undefined || single === "" ? Object.keys(checks) : [single];
  if (names.some((name) => !Object.hasOwn(checks, name)))
    return { status: 404, type: "text/plain", body: "no such check\n" };
  const excluded = query.getAll("exclude");
  const lines: string[] = [];
  let failed = false;
  for (const name of names.filter((candidate) => !excluded.includes(candidate))) {
    const ok = await passes(checks[name]);
    failed ||= !ok;
    lines.push(ok ? `[+]${name} ok` : `[-]${name} failed`);
  }
  if (!failed && !query.has("verbose")) return { status: 200, type: "text/plain", body: "ok" };
  const verdict = failed ? `${group} check failed` : `${group} check passed`;
  return { status: failed ? 500 : 200, type: "text/plain", body: `${lines.join("\n")}\n${verdict}\n` };
}

async function passes(check: Check | undefined): Promise<boolean> {
  try {
    await check?.();
    return true;
  } catch {
    return false;
  }
}

async function metricsPage(metrics: Metrics): Promise<Answer> {
  const { contentType, body } = await metrics.text();
  return { status: 200, type: contentType, body };
}

function json(value: object): Answer {
  return { status: 200, type: "application/json", body: `${JSON.stringify(value, undefined, 2)}\n` };
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  const headers = { "content-type": answer.type, "cache-control": "no-cache, no-store" };
  response.writeHead(answer.status, headers).end(request.method === "HEAD" ? undefined : answer.body);
}
