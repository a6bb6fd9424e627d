import type { OnReadOpts } from "node:net";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import type { Endpoint } from "./https-client.ts";

/** As much as Node's TLS hands over at once. */
const READ_BYTES = 64 * 1024;
const HEAD_END = Buffer.from("\r\n\r\n");
const NEWLINE = 0x0a;

/**
 * Reads answers over one kept connection and only counts their bytes: both HTTP framings are followed, nothing is copied, kept or parsed.
 * Node's own client takes three times the processor time of our server for a long list, and so measures itself.
 */
export class BareClient {
  readonly #socket: TLSSocket;
  readonly #host: string;
  #read: (bytes: Buffer) => void = () => {};
  #fail: (error: Error) => void = () => {};

  private constructor(host: string, socket: TLSSocket) {
    this.#host = host;
    this.#socket = socket;
  }

  static connect({ server, caPem: ca, certPem: cert, keyPem: key }: Endpoint): Promise<BareClient> {
    const { host, hostname, port } = new URL(server);
    return new Promise((resolve, reject) => {
      const onread: OnReadOpts = {
        buffer: Buffer.alloc(READ_BYTES),
        callback: (size: number, buffer: Uint8Array): boolean => {
          client.#read(Buffer.from(buffer.buffer, buffer.byteOffset, size));
          return true;
        },
      };
      const options: ConnectionOptions & { onread: OnReadOpts } = {
        host: hostname,
        port: Number(port),
        ca,
        cert,
        key,
        onread,
      };
      const socket = connect(options);
      const client = new BareClient(host, socket);
      client.#fail = reject;
      socket.once("secureConnect", () => resolve(client));
      socket.on("error", (error) => client.#fail(error));
      socket.on("close", () => client.#fail(new Error("the server ended the connection")));
    });
  }

  /** The length of the answer's body in bytes. */
  get(path: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      let head: Buffer = Buffer.alloc(0);
      let body: ((bytes: Buffer) => number | undefined) | undefined;
      this.#read = (bytes) => {
        let rest = bytes;
        if (body === undefined) {
          head = Buffer.concat([head, bytes]);
          const end = head.indexOf(HEAD_END);
          if (end < 0) return;
          const text = head.toString("latin1", 0, end);
          if (!text.startsWith("HTTP/1.1 200 ")) {
            reject(new Error(`${path} was answered with ${text}`));
            return;
          }
          const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
          body = length === undefined ? chunkedBody() : plainBody(Number(length));
          rest = head.subarray(end + HEAD_END.length);
        }
        const size = body(rest);
        if (size !== undefined) resolve(size);
      };
      this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nAccept: application/json\r\n\r\n`);
    });
  }

  close(): void {
    this.#fail = () => {};
    this.#socket.destroy();
  }
}

/** Consumes what arrives; returns the length of the body once it is complete. */
function plainBody(length: number): (bytes: Buffer) => number | undefined {
  let read = 0;
  return (bytes) => {
    read += bytes.length;
    return read >= length ? read : undefined;
  };
}

function chunkedBody(): (bytes: Buffer) => number | undefined {
  let total = 0;
  let left = 0;
  let line = "";
  let last = false;
  return (bytes) => {
    for (let at = 0; at < bytes.length; ) {
      if (left > 0) {
        const some = Math.min(left, bytes.length - at);
        left -= some;
        at += some;
        continue;
      }
      const end = bytes.indexOf(NEWLINE, at);
      line += bytes.toString("latin1", at, end < 0 ? bytes.length : end);
      if (end < 0) return undefined;
      at = end + 1;
      const size = Number.parseInt(line, 16);
      const blank = line.trim() === "";
      line = "";
      if (blank && last) return total;
      // The blank line after a chunk.
      if (blank) continue;
      last = size === 0;
      left = size;
      total += size;
    }
    return undefined;
  };
}
