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

  /** Calls back with each line of a watch until the returned function is called. Resolves once the stream is open. */
  watch(path: string, onLine: (line: string) => void): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const call = request(
        { host: this.#base.hostname, port: this.#base.port, path, agent: this.#agent },
        (response) => {
          let rest = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => {
            const lines = (rest + chunk).split("\n");
            rest = lines.pop() ?? "";
            for (const line of lines) onLine(line);
          });
          response.on("error", () => undefined);
          resolve(() => call.destroy());
        },
      );
      call.on("error", reject);
      call.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
