import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "@capstan/apimachinery";
import type { HostIdentity } from "../provisioner/provisioner.ts";

/** A request as the fake saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown>;
  readonly headers: IncomingMessage["headers"];
}

/** What the fake answers. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

type Route = (seen: Seen) => Reply | undefined;

/** A management controller with the habits that a test gives it; answers 404 to what it has no route for. */
export class FakeRedfish {
  readonly seen: Seen[] = [];
  readonly routes = new Map<string, Route>();
  inFlight = 0;
  peak = 0;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeRedfish> {
    const server = createServer();
    const fake = new FakeRedfish(server);
    server.on("request", (request, response) => {
      fake.peak = Math.max(fake.peak, ++fake.inFlight);
      void bodyOf(request).then(async (text) => {
        // Long enough for others to arrive.
        await new Promise((resolve) => setImmediate(resolve));
        const seen: Seen = {
          method: request.method ?? "",
          path: request.url ?? "",
          body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
          headers: request.headers,
        };
        fake.seen.push(seen);
        const reply = fake.routes.get(`${seen.method} ${seen.path}`)?.(seen) ?? {
          status: 404,
          body: { error: { message: `${seen.path} is not here` } },
        };
        fake.inFlight--;
        response.writeHead(reply.status ?? 200, { "content-type": "application/json", ...reply.headers });
        response.end(reply.body === undefined ? "" : JSON.stringify(reply.body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return fake;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Answers a path with a value, whatever is asked. */
  on(route: string, answer: unknown): void {
    this.routes.set(route, typeof answer === "function" ? (answer as Route) : () => ({ body: answer }));
  }

  /** `METHOD path` of everything asked for, reads left out. */
  writes(): string[] {
    return this.seen.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
  }

  host(change: Partial<HostIdentity> = {}): HostIdentity {
    return {
      namespace: "default",
      name: "h1",
      uid: "u1",
      address: `redfish-virtualmedia+${this.origin}/redfish/v1/Systems/1`,
      credentials: { username: "admin", password: "s3cret" },
      disableCertificateVerification: false,
      bootMACAddress: undefined,
      bootMode: "UEFI",
      poweredOn: false,
      annotations: {},
      ...change,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Real time in which short waits take none. */
export const hastyClock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  after: (ms, fire) => {
    if (ms > 5_000) return () => undefined;
    const timer = setImmediate(fire);
    return () => clearImmediate(timer);
  },
};

async function bodyOf(message: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of message) text += String(chunk);
  return text;
}
