import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a test does for each client of its socket. */
export interface Talk {
  connected?: (client: Socket) => void;
  line?: (line: string, client: Socket) => void;
}

/** A unix socket in a folder of its own that speaks as a test wants it to. */
export class SocketServer {
  readonly #folder: string;
  readonly #clients = new Set<Socket>();
  #server: Server | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(talk?: Talk): Promise<SocketServer> {
    const server = new SocketServer(await mkdtemp(join(tmpdir(), "capstan-vm-socket-")));
    if (talk !== undefined) await server.listen(talk);
    return server;
  }

  get path(): string {
    return join(this.#folder, "socket");
  }

  async listen(talk: Talk): Promise<void> {
    this.#server = createServer((client) => {
      this.#clients.add(client);
      client.on("error", () => undefined);
      let rest = "";
      client.on("data", (chunk) => {
        const lines = `${rest}${chunk.toString("latin1")}`.split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) talk.line?.(line, client);
      });
      talk.connected?.(client);
    });
    this.#server.listen(this.path);
    await once(this.#server, "listening");
  }

  /** Ends all connections, as QEMU does when it exits. */
  disconnect(): void {
    for (const client of this.#clients) client.destroy();
    this.#clients.clear();
  }

  async close(): Promise<void> {
    this.disconnect();
    this.#server?.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Answers as the recorded program did, as long as the client says what was said to it. */
export function replay(file: URL): { talk: Talk; unexpected: string[] } {
  const lines: { sent?: string; received?: string }[] = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const unexpected: string[] = [];
  const answer = (client: Socket): void => {
    for (; lines[0]?.received !== undefined; lines.shift()) client.write(`${lines[0].received}\n`, "latin1");
    if (lines.length === 0) client.end();
  };
  return {
    unexpected,
    talk: {
      connected: answer,
      line: (line, client) => {
        if (lines.shift()?.sent !== line) unexpected.push(line);
        answer(client);
      },
    },
  };
}
