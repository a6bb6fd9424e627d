import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** A digest as checksum files have it. */
export const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** A server on loopback with files, their checksums, and faults. */
export class FileServer {
  readonly files = new Map<string, Buffer>();
  /** Paths whose next answer is cut after so many bytes. */
  readonly cuts = new Map<string, number>();
  /** Every request: its path, then its Range. */
  readonly asked: string[] = [];
  /** Answers in its place when it gives back true. */
  instead: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Closes the connection that a test interrupts. */
  endConnection: () => void = () => undefined;
  /** Versions of files by path; without one a file has no ETag. */
  readonly etags = new Map<string, string>();
  /** Some servers send the whole file whatever range is requested. */
  resumes = true;
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));

  /** Base address. */
  get base(): string {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** A file with its checksum file next to it. */
  put(path: string, bytes: Buffer): void {
    this.files.set(path, bytes);
    this.files.set(`${path}.sha256`, Buffer.from(sha256(bytes)));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? "";
    this.asked.push(`${path} ${request.headers.range ?? ""}`.trim());
    if (this.instead(request, response)) return;
    const bytes = this.files.get(path);
    if (bytes === undefined) return void response.writeHead(404).end("not found");
    const etag = this.etags.get(path);
    const condition = request.headers["if-range"];
    const fits = condition === undefined || condition === etag;
    const start = this.resumes && fits ? Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
    if (etag !== undefined) response.setHeader("etag", etag);
    if (start > 0 && start >= bytes.length) return void response.writeHead(416).end();
    const rest = bytes.subarray(start);
    const range = { "content-range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` };
    response.writeHead(start > 0 ? 206 : 200, { "content-length": rest.length, ...(start > 0 ? range : {}) });
    const cut = this.cuts.get(path);
    if (cut === undefined) return void response.end(rest);
    this.cuts.delete(path);
    // The rest is never sent: the connection closes once the client has read what was sent.
    response.write(rest.subarray(0, cut));
    this.endConnection = () => response.destroy();
  }
}
