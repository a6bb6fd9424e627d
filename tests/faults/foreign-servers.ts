import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Misbehaving servers; the first segment of the path selects the behaviour. */
export class HostileServer {
  readonly #server: Server;
  /** Requests so far, and megabytes that were taken. */
  requests = 0;
  megabytes = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(
    answer: (path: string, response: ServerResponse, server: HostileServer) => void,
  ): Promise<HostileServer> {
    const server = createServer();
    const hostile = new HostileServer(server);
    server.on("request", (request, response) => {
      hostile.requests++;
      response.setMaxListeners(0);
      response.on("error", () => undefined);
      answer(request.url ?? "/", response, hostile);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return hostile;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sends for as long as the client reads. */
  async endless(response: ServerResponse, piece = Buffer.alloc(1024 * 1024, "x")): Promise<void> {
    while (!response.destroyed) {
      this.megabytes += piece.length / 1024 / 1024;
      if (!response.write(piece))
        await new Promise<void>((resolve) => response.once("drain", resolve).once("close", resolve));
    }
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
