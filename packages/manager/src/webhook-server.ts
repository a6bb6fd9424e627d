import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import {
  ByteBudget,
  type Clock,
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  HTTP_TIME_LIMITS,
  limitConnections,
  type Random,
  TLS_TIME_LIMITS,
} from "@capstan/apimachinery";
import {
  type AdmissionLookup,
  type ApiVersionLookup,
  admissionReviewer,
  conversionReview,
  type ServedKind,
  WEBHOOK_PATHS,
} from "@capstan/capi";
import type { CertificateAndKey } from "@capstan/pki";
import type { Logger, Metrics } from "@capstan/runtime";
import { createServingAuthority, issueServing, keepRenewed } from "./serving-certificate.ts";

/** Settings of the webhook server: its address, certificate names, kinds and limits. */
export interface WebhookServerOptions {
  listen: { host: string; port: number };
  /** Names and addresses under which the API server reaches this server. */
  names?: readonly string[];
  /** The CA that signs the certificate; by default a new one. */
  authority?: CertificateAndKey;
  kinds: readonly ServedKind[];
  lookup?: AdmissionLookup;
  apiVersionOf?: ApiVersionLookup;
  /** What differs from the usual limits of connections. */
  limits?: Partial<ConnectionLimits>;
  /** Bytes of all reviews that are read at the same time; default 256 MiB. */
  maxBytesAtOnce?: number;
  clock: Clock;
  random: Random;
  log?: Logger | undefined;
  /** Receives metrics of the calls. */
  metrics?: Pick<Metrics, "webhook" | "certificate"> | undefined;
}

/** A running webhook server. */
export interface WebhookServer {
  readonly port: number;
  /** The CA of its certificate, for `caBundle`. */
  readonly caPem: string;
  close(): Promise<void>;
}

const NAME = "capstan-webhooks";
const PATHS: ReadonlySet<string> = new Set(Object.values(WEBHOOK_PATHS));
/** A list of objects to convert can be long; a longer body is not a valid review. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Any client can call a webhook, so the total size of concurrent reviews is limited. */
const MAX_BYTES_AT_ONCE = 256 * 1024 * 1024;

/** Serves conversion and admission webhooks of our kinds to a real Kubernetes, with a certificate that it issues itself. */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { clock, random, kinds, lookup, apiVersionOf } = options;
  const deps = { clock, random };
  const ca = options.authority ?? (await createServingAuthority(NAME, deps));
  const names = [...(options.names ?? []), options.listen.host];
  const issue = (): Promise<CertificateAndKey> => issueServing(ca, NAME, names, deps);
  const serving = await issue();
  const admit = admissionReviewer(kinds, {
    report: (error) => options.log?.error("an admission rule failed", { error }),
    lookup,
    apiVersionOf,
  });
  const answer = async (path: string, review: unknown): Promise<object | undefined> => {
    if (path === WEBHOOK_PATHS.convert) return conversionReview(kinds, review, apiVersionOf);
    if (path === WEBHOOK_PATHS.mutate) return admit("mutate", review);
    return path === WEBHOOK_PATHS.validate ? admit("validate", review) : undefined;
  };
  const bodies = new ByteBudget(options.maxBytesAtOnce ?? MAX_BYTES_AT_ONCE);
  const tls = { cert: serving.certPem, key: serving.keyPem, ...TLS_TIME_LIMITS, ...HTTP_TIME_LIMITS };
  const server = createServer(tls, (request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    // Other paths are not webhooks, and each would create a metric of its own.
    const answered = PATHS.has(path) ? options.metrics?.webhook(path) : undefined;
    response.once("close", () => answered?.(response.statusCode));
    void respond(request, response, path, answer, bodies);
  });
  limitConnections(server, { ...DEFAULT_CONNECTION_LIMITS, ...options.limits }, clock);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.listen.port, options.listen.host, resolve);
  });
  const stopRenewing = keepRenewed(
    issue,
    ({ certPem, keyPem }) => server.setSecureContext({ cert: certPem, key: keyPem }),
    { clock, metrics: options.metrics },
  );
  return {
    port: (server.address() as AddressInfo).port,
    caPem: ca.certPem,
    close: () =>
      new Promise((resolve) => {
        stopRenewing();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  answer: (path: string, review: unknown) => Promise<object | undefined>,
  bodies: ByteBudget,
): Promise<void> {
  const send = (status: number, body: string, type = "text/plain"): void => {
    response.writeHead(status, { "content-type": type }).end(body);
  };
  const share = bodies.share();
  try {
    if (!PATHS.has(path)) return send(404, `nothing is served at ${path}`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) return send(413, "the review is too large");
      if (!share.take(chunk.length)) return send(429, "too many large reviews at the same time");
      chunks.push(chunk);
    }
    const result = await answer(path, JSON.parse(Buffer.concat(chunks).toString("utf8")));
    if (result === undefined) send(404, `nothing is served at ${path}`);
    else send(200, JSON.stringify(result), "application/json");
  } catch (error) {
    send(400, error instanceof SyntaxError || error instanceof TypeError ? error.message : "the review is invalid");
  } finally {
    share.release();
  }
}
