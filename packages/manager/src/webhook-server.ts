import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Clock, Random } from "@capstan/apimachinery";
import {
  type AdmissionLookup,
  type ApiVersionLookup,
  admissionReviewer,
  conversionReview,
  type ServedKind,
  WEBHOOK_PATHS,
} from "@capstan/capi";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";

export interface WebhookServerOptions {
  listen: { host: string; port: number };
  /** Names and addresses that the API server calls us by. */
  names?: readonly string[];
  kinds: readonly ServedKind[];
  lookup?: AdmissionLookup;
  apiVersionOf?: ApiVersionLookup;
  clock: Clock;
  random: Random;
}

/** A running webhook server. */
export interface WebhookServer {
  readonly port: number;
  /** Who signed its certificate: for `caBundle`. */
  readonly caPem: string;
  close(): Promise<void>;
}

const DAY_MS = 24 * 3_600_000;
const VALID_MS = 365 * DAY_MS;
/** Clocks of API servers may be behind. */
const SKEW_MS = 3_600_000;
/** A list of objects to convert can be long; what is longer is no review of ours. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Serves conversion and admission of our kinds to a real Kubernetes, under a certificate made for this start. */
export async function startWebhookServer(options: WebhookServerOptions): Promise<WebhookServer> {
  const { clock, random, kinds, lookup, apiVersionOf } = options;
  const notBeforeMs = clock.now() - SKEW_MS;
  const ca = await createCertificateAuthority({
    commonName: "capstan-webhooks",
    notBeforeMs,
    validMs: VALID_MS,
    random,
  });
  const names = [...(options.names ?? []), options.listen.host, "localhost"];
  const serving = await issueCertificate(ca, {
    commonName: "capstan-webhooks",
    dnsNames: names.filter((name) => !isAddress(name)),
    ipAddresses: names.filter(isAddress),
    usages: ["server"],
    nowMs: clock.now(),
    validMs: VALID_MS,
    random,
  });
  const admit = admissionReviewer(kinds, {
    ...(lookup === undefined ? {} : { lookup }),
    ...(apiVersionOf === undefined ? {} : { apiVersionOf }),
  });
  const answer = async (path: string, review: unknown): Promise<object | undefined> => {
    if (path === WEBHOOK_PATHS.convert) return conversionReview(kinds, review, apiVersionOf);
    if (path === WEBHOOK_PATHS.mutate) return admit("mutate", review);
    return path === WEBHOOK_PATHS.validate ? admit("validate", review) : undefined;
  };
  const server = createServer({ cert: serving.certPem, key: serving.keyPem }, (request, response) => {
    void respond(request, response, answer);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.listen.port, options.listen.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    caPem: ca.certPem,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isAddress(name: string): boolean {
  return name.includes(":") || /^\d+(\.\d+){3}$/.test(name);
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (path: string, review: unknown) => Promise<object | undefined>,
): Promise<void> {
  const send = (status: number, body: string, type = "text/plain"): void => {
    response.writeHead(status, { "content-type": type }).end(body);
  };
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) return send(413, "the review is too large");
      chunks.push(chunk);
    }
    const path = (request.url ?? "").split("?")[0] ?? "";
    const result = await answer(path, JSON.parse(Buffer.concat(chunks).toString("utf8")));
    if (result === undefined) send(404, `nothing is served at ${path}`);
    else send(200, JSON.stringify(result), "application/json");
  } catch (error) {
    send(
      400,
      error instanceof SyntaxError || error instanceof TypeError ? error.message : "the review was not understood",
    );
  }
}
