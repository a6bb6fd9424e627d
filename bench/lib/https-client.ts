import { Agent, request } from "node:https";

/** How to reach an API server. */
export interface Endpoint {
  server: string;
  caPem: string;
  certPem: string;
  keyPem: string;
}

export interface Answer {
  status: number;
  body: Buffer;
}

/** A keep-alive HTTP/1.1 client with client certificate: the same for both sides of a comparison. */
export class HttpsClient {
  readonly #agent: Agent;
  readonly #base: URL;

  constructor(endpoint: Endpoint, connections: number) {
    this.#base = new URL(endpoint.server);
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: connections,
      ca: endpoint.caPem,
      cert: endpoint.certPem,
      key: endpoint.keyPem,
    });
  }

  send(method: string, path: string, body?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers =
        body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const call = request(
        {
          host: this.#base.hostname,
          port: this.#base.port,
          method,
          path,
          agent: this.#agent,
          headers: { accept: "application/json", ...headers },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
          response.on("error", reject);
        },
      );
      call.on("error", reject);
      call.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
