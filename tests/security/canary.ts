import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";

/** What a canary says: none of it may be seen by whoever had it asked. */
export const CANARY_WORDS = "canary-7f3a: the secret of another service";

/** A service on the management host that only the management host can reach. It counts who comes, and answers HTTP with its secret. */
export class Canary {
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(host = "127.0.0.1"): Promise<Canary> {
    const server = createServer();
    const canary = new Canary(server);
    server.on("connection", (socket) => {
      canary.connections++;
      canary.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => canary.#sockets.delete(socket));
      socket.once("data", () => {
        const head = `HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: ${CANARY_WORDS.length}`;
        socket.end(`${head}\r\nConnection: close\r\n\r\n${CANARY_WORDS}`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return canary;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
