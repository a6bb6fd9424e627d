import { Agent, type RequestOptions, request } from "node:https";
import { gunzipSync } from "node:zlib";

/** One of the two servers, reached with the same certificates. */
export interface Side {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly caPem: string;
  readonly admin: { readonly certPem: string; readonly keyPem: string };
  /** What scripts call `<webhooks.url>`, `<webhooks.ca>` and `<webhooks.serving>`. */
  readonly webhooks?: { readonly url: string; readonly ca: string; readonly serving: string };
}

/** A raw response. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A raw request. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: Buffer | undefined;
  readonly credentials: boolean;
}

/** An open watch: its lines so far, and a way to wait for more. */
export interface OpenWatch {
  readonly status: number;
  take(count: number, end: boolean): Promise<{ lines: string[]; ended: boolean }>;
  close(): void;
}

const PATIENCE_MS = 15_000;

function unpacked(body: Buffer, encoding: string | undefined): Buffer {
  return encoding === "gzip" ? gunzipSync(body) : body;
}

/** HTTP/1.1 over TLS to one server, with the admin's certificate or without. */
export class Client {
  readonly #side: Side;
  readonly #withCertificate: Agent;
  readonly #without: Agent;

  constructor(side: Side) {
    this.#side = side;
    const tls = { ca: side.caPem, keepAlive: true };
    this.#withCertificate = new Agent({ ...tls, cert: side.admin.certPem, key: side.admin.keyPem });
    this.#without = new Agent(tls);
  }

  send(call: RawRequest): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = request(this.#options(call), (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: unpacked(Buffer.concat(chunks), response.headers["content-encoding"]),
          }),
        );
      });
      outgoing.setTimeout(PATIENCE_MS, () => outgoing.destroy(new Error(`${call.method} ${call.path}: no answer`)));
      outgoing.on("error", reject);
      outgoing.end(call.body);
    });
  }

  watch(call: RawRequest): Promise<OpenWatch> {
    return new Promise((resolve, reject) => {
      const outgoing = request(this.#options(call), (response) => {
        let lines: string[] = [];
        let rest = "";
        let ended = false;
        let wake = (): void => {};
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          const parts = (rest + chunk).split("\n");
          rest = parts.pop() ?? "";
          lines.push(...parts);
          wake();
        });
        const finish = (): void => {
          if (rest !== "") lines.push(rest);
          rest = "";
          ended = true;
          wake();
        };
        response.on("end", finish);
        response.on("error", finish);
        const take = async (count: number, end: boolean): Promise<{ lines: string[]; ended: boolean }> => {
          const deadline = Date.now() + PATIENCE_MS;
          while ((lines.length < count || end) && !ended && Date.now() < deadline)
            await new Promise<void>((done) => {
              const timer = setTimeout(done, deadline - Date.now());
              wake = () => {
                clearTimeout(timer);
                done();
              };
            });
          const taken = lines.slice(0, count);
          lines = lines.slice(count);
          return { lines: taken, ended };
        };
        resolve({ status: response.statusCode ?? 0, take, close: () => outgoing.destroy() });
      });
      outgoing.on("error", reject);
      outgoing.end();
    });
  }

  close(): void {
    this.#withCertificate.destroy();
    this.#without.destroy();
  }

  #options(call: RawRequest): RequestOptions {
    return {
      host: this.#side.host,
      port: this.#side.port,
      method: call.method,
      path: call.path,
      headers: { ...call.headers, ...(call.body === undefined ? {} : { "content-length": String(call.body.length) }) },
      agent: call.credentials ? this.#withCertificate : this.#without,
    };
  }
}
