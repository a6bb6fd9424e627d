import { type Clock, goQuote } from "@capstan/apimachinery";
import { type DialGate, parseForeignJson, readText } from "@capstan/apimachinery/foreign";
import type { Agent, buildConnector } from "undici";
import { at, list, num, text } from "../builtin/read.ts";
import type { InternalApi } from "../types.ts";
import type { WebhookClientConfig } from "./webhook.types.ts";

/** Calls webhooks over HTTPS. */
export interface WebhookClient {
  /** Posts a document and returns the answer's JSON; throws Error with the message of Go's HTTP client. */
  post(config: WebhookClientConfig, body: object, timeoutSeconds: number): Promise<unknown>;
  close(): Promise<void>;
}

/** Answers above this are cut: a webhook must not fill our memory. */
const MAX_ANSWER = 16 * 1024 * 1024;
/** Connections are kept for so many bundles. */
const MAX_AGENTS = 256;

/** A client that trusts each webhook's caBundle and keeps connections. The library is loaded at the first call. */
export function webhookClient(deps: {
  clock: Clock;
  api: Pick<InternalApi, "get">;
  gate?: DialGate | undefined;
}): WebhookClient {
  const { gate } = deps;
  const agents = new Map<string, Promise<Agent>>();
  /** Repeated changes of a caBundle must not fill the memory. */
  const forgetOldest = (): void => {
    const [oldest] = agents;
    if (agents.size < MAX_AGENTS || oldest === undefined) return;
    agents.delete(oldest[0]);
    void oldest[1].then((agent) => agent.close());
  };
  const agentFor = (caPem: string | undefined, servername: string | undefined): Promise<Agent> => {
    const key = `${servername ?? ""}\n${caPem ?? ""}`;
    let agent = agents.get(key);
    if (agent === undefined) {
      const connect = {
        // As in Go, a bundle may hold the serving certificate itself instead of the authority that signed it.
        ...(caPem === undefined ? {} : { ca: caPem, allowPartialTrustChain: true }),
        servername,
      };
      agent = import("undici").then(
        (undici) =>
          new undici.Agent({
            connect: gate === undefined ? connect : guarded(gate, connect, undici.buildConnector),
            connections: 16,
            pipelining: 1,
            maxResponseSize: MAX_ANSWER,
          }),
      );
      forgetOldest();
      agents.set(key, agent);
    }
    return agent;
  };

  return {
    async post(config, body, timeoutSeconds) {
      const target = targetOf(config);
      const shown = withTimeout(target.url, timeoutSeconds);
      const abort = new AbortController();
      const cancel = deps.clock.after(timeoutSeconds * 1000, () => abort.abort());
      try {
        const address = config.service === undefined ? undefined : serviceAddress(deps.api, config.service);
        const url = new URL(shown);
        if (address !== undefined) url.host = address;
        const agent = await agentFor(config.caPem, target.servername);
        const answer = await agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json, */*",
            "user-agent": "kube-apiserver-admission",
            ...(target.servername === undefined ? {} : { host: url.host }),
          },
          body: JSON.stringify(body),
          signal: abort.signal,
        });
        const raw = await readText(answer.body, MAX_ANSWER, "webhook");
        if (answer.statusCode < 200 || answer.statusCode > 299)
          // The response of an internal address must not reach the user who chose it.
          throw new Refused(statusText(answer.statusCode, gate === undefined ? raw : ""));
        return parse(raw);
      } catch (error) {
        if (error instanceof Refused) throw new Error(error.message);
        throw new Error(
          `Post ${goQuote(shown)}: ${abort.signal.aborted ? "context deadline exceeded" : goText(error)}`,
        );
      } finally {
        cancel();
      }
    },
    close: async () => {
      for (const agent of agents.values()) await (await agent).destroy();
      agents.clear();
    },
  };
}

/** Connections to addresses that were checked. */
function guarded(gate: DialGate, options: object, build: typeof buildConnector): buildConnector.connector {
  return (target, callback) => {
    try {
      const guard = gate.guard({ host: target.hostname, port: Number(target.port) || 443 });
      build({ ...options, ...guard })(target, callback);
    } catch (error) {
      callback(error instanceof Error ? error : new Error(String(error)), null);
    }
  };
}

/** A failure that Go's client reports without the URL. */
class Refused extends Error {}

function parse(raw: string): unknown {
  try {
    return parseForeignJson(raw, "webhook");
  } catch {
    throw new Refused("couldn't parse webhook response: it is no JSON");
  }
}

function targetOf(config: WebhookClientConfig): { url: string; servername: string | undefined } {
  const { service, url } = config;
  if (service === undefined) return { url: url ?? "", servername: undefined };
  const servername = `${service.name}.${service.namespace}.svc`;
  const path = service.path.startsWith("/") ? service.path : `/${service.path}`;
  return { url: `https://${servername}:${service.port}${path}`, servername };
}

function withTimeout(url: string, seconds: number): string {
  return `${url}${url.includes("?") ? "&" : "?"}timeout=${seconds}s`;
}

/** Where a Service listens: its external name, an endpoint, or its cluster address. */
function serviceAddress(
  api: Pick<InternalApi, "get">,
  service: { namespace: string; name: string; port: number },
): string {
  const { namespace, name, port } = service;
  const object = api.get({ group: "", plural: "services" }, namespace, name);
  if (object === undefined) throw new Error(`service ${goQuote(name)} not found`);
  const spec = object["spec"];
  if (text(at(spec, "type")) === "ExternalName") return `${text(at(spec, "externalName"))}:${port}`;
  const servicePort = list(at(spec, "ports")).find((p) => num(at(p, "port")) === port);
  if (servicePort === undefined) throw new Error(`no service port ${port} found for service ${goQuote(name)}`);
  const endpoints = api.get({ group: "", plural: "endpoints" }, namespace, name);
  for (const subset of list(endpoints?.["subsets"])) {
    const ip = text(at(list(at(subset, "addresses"))[0], "ip"));
    const ports = list(at(subset, "ports"));
    const named = ports.find((p) => text(at(p, "name")) === text(at(servicePort, "name"))) ?? ports[0];
    if (ip !== "" && named !== undefined) return hostPort(ip, num(at(named, "port")));
  }
  const clusterIP = text(at(spec, "clusterIP"));
  if (clusterIP === "" || clusterIP === "None") throw new Error(`no endpoints available for service ${goQuote(name)}`);
  return hostPort(clusterIP, port);
}

const hostPort = (ip: string, port: number): string => (ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`);

const UNTRUSTED = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);

/** A network error with Go's message, if Go has one. */
function goText(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  const code = text(at(error, "code"));
  const address = `${text(at(error, "address"))}:${num(at(error, "port"))}`;
  if (code === "ECONNREFUSED") return `dial tcp ${address}: connect: connection refused`;
  if (code === "ENOTFOUND") return `dial tcp: lookup ${text(at(error, "hostname"))}: no such host`;
  if (code === "CERT_HAS_EXPIRED")
    return "tls: failed to verify certificate: x509: certificate has expired or is not yet valid";
  if (UNTRUSTED.has(code)) return "tls: failed to verify certificate: x509: certificate signed by unknown authority";
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET") return "EOF";
  return error.message;
}

/** Go's client messages for statuses that need no body. */
const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  // oxlint-disable-next-line capstan/wording -- client-go's message
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

function statusText(status: number, raw: string): string {
  const known = STATUS_TEXTS[status];
  if (known !== undefined) return known;
  if (status >= 500)
    return `an error on the server (${goQuote(raw.slice(0, 200))}) has prevented the request from succeeding`;
  if (status === 403 || status === 406 || status === 415) return raw.trim().slice(0, 200) || "unknown";
  return `the server responded with the status code ${status} but did not return more information`;
}
