import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { type AdmissionScript, admissionAnswer } from "./admission-answer.ts";
import { type ConversionScript, conversionAnswer } from "./conversion-answer.ts";

/** Where both servers find webhooks: `url` and a path made here, trusted by `ca` or by `serving`, its own certificate (caBundles). */
export interface Webhooks {
  readonly url: string;
  readonly ca: string;
  readonly serving: string;
  stop(): Promise<void>;
}

/** The HTTP behaviour of a webhook other than a response. */
interface TransportScript {
  /** Answers with this status and text. */
  readonly http?: readonly [status: number, text: string];
  /** Never answers. */
  readonly hang?: boolean;
  /** Closes the connection. */
  readonly cut?: boolean;
}

/** The configured behaviour of an admission webhook. */
export type AdmissionBehaviour = AdmissionScript & TransportScript;
/** The configured behaviour of a conversion webhook. */
export type ConversionBehaviour = ConversionScript & TransportScript;

/** The path of an admission webhook with this behaviour. The behaviour is in the path, because queries are not allowed there. */
export function admissionPath(behaviour: AdmissionBehaviour): string {
  return `/admit/${encoded(behaviour)}`;
}

/** The same for a conversion webhook. */
export function conversionPath(behaviour: ConversionBehaviour): string {
  return `/convert/${encoded(behaviour)}`;
}

function encoded(behaviour: object): string {
  return Buffer.from(JSON.stringify(behaviour)).toString("base64url");
}

/** One HTTPS server that acts as all webhooks, for both API servers. It is stateless: the same request gets the same response. */
export async function startWebhooks(options: {
  readonly host: string;
  readonly certPem: string;
  readonly keyPem: string;
  readonly caPem: string;
}): Promise<Webhooks> {
  const server = createServer({ cert: options.certPem, key: options.keyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const [, kind = "", code = ""] = (request.url ?? "").split("?")[0]?.split("/") ?? [];
      const script = JSON.parse(Buffer.from(code, "base64url").toString()) as AdmissionBehaviour & ConversionBehaviour;
      if (script.hang === true) return;
      if (script.cut === true) {
        request.socket.destroy();
        return;
      }
      if (script.http !== undefined) {
        response.writeHead(script.http[0], { "content-type": "text/plain" }).end(script.http[1]);
        return;
      }
      const body = Buffer.concat(chunks);
      const unpacked = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
      const review = JSON.parse(unpacked.toString()) as never;
      const answer = kind === "convert" ? conversionAnswer(review, script) : admissionAnswer(review, script);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, options.host, resolve));
  return {
    url: `https://${options.host}:${(server.address() as AddressInfo).port}`,
    ca: Buffer.from(options.caPem).toString("base64"),
    serving: Buffer.from(options.certPem).toString("base64"),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
