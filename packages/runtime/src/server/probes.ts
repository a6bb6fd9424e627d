import type { IncomingMessage } from "node:http";
import type { Clock } from "@capstan/apimachinery";
import { type Answer, type Endpoint, type EndpointAddress, NOT_FOUND, serveEndpoint } from "./http-endpoint.ts";

/** A health check, which throws an error with the reason when it fails. */
export type Check = () => void | Promise<void>;

/** Checks and version that the endpoints report. */
export interface ProbeOptions {
  /** Whether the process should be restarted, by name of check. */
  readonly health?: Readonly<Record<string, Check>> | undefined;
  /** Whether the process does its work, by name of check. */
  readonly ready?: Readonly<Record<string, Check>> | undefined;
  /** The answer of /version, shaped like Kubernetes' own. */
  readonly version: Readonly<Record<string, string>>;
}

/** Serves /healthz, /livez, /readyz and /version. They need no authentication, so they name failing checks but not the reasons. */
export async function listenForProbes(
  options: ProbeOptions & { address: EndpointAddress; clock: Clock },
): Promise<Endpoint> {
  const checks = (all: Readonly<Record<string, Check>> | undefined): Readonly<Record<string, Check>> => ({
    ping: () => undefined,
    ...all,
  });
  const groups: Record<string, Readonly<Record<string, Check>>> = {
    healthz: checks(options.health),
    livez: checks(options.health),
    readyz: checks(options.ready),
  };
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const url = new URL(request.url ?? "/", "http://probe");
    const [, group = "", single] = url.pathname.split("/");
    if (Object.hasOwn(groups, group)) return await runChecks(group, groups[group] ?? {}, single, url.searchParams);
    return url.pathname === "/version" ? json(options.version) : NOT_FOUND;
  };
  return await serveEndpoint(options.address, answer, options.clock);
}

/** The reason of a failure is in the log of the part that fails. */
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

function json(value: object): Answer {
  return { status: 200, type: "application/json", body: `${JSON.stringify(value, undefined, 2)}\n` };
}
