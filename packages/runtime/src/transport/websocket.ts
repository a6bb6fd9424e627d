import { createHash } from "node:crypto";
import { Duplex } from "node:stream";
import type { Transport } from "@capstan/apimachinery";
import type * as ws from "ws";

/** Any sixteen bytes serve: they only prove that the peer's answer is to this request. */
const KEY = "Y2Fwc3Rhbi1zb2NrZXRzIQ==";
const ACCEPT = createHash("sha1").update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
const LARGEST_MESSAGE = 16 * 1024 ** 2;
/** Frames that one message may come in. */
const MAX_PARTS = 4096;
/** Chunks of the socket that one frame may come in: joining them takes time quadratic in their number. */
const MAX_CHUNKS = 16 * 1024;
/** Answers to pings that the server has not taken. */
const MAX_UNSENT = 1024 ** 2;
const MESSAGE = { fin: true, binary: true, compress: false, mask: true };

/** The framing of WebSockets, from the library. */
type Framing = Pick<typeof ws, "Receiver" | "Sender">;

/** Opens a WebSocket at a path of an API server, as a stream of messages in both directions. */
export async function openWebSocket(
  transport: Transport,
  request: { path: string; query?: Record<string, string | string[]>; protocol: string },
  signal?: AbortSignal,
): Promise<Duplex> {
  if (transport.upgrade === undefined) throw new Error(`${request.path}: this connection carries no streams`);
  const { path, query, protocol } = request;
  const headers = {
    "sec-websocket-version": "13",
    "sec-websocket-key": KEY,
    "sec-websocket-protocol": protocol,
  };
  // Loaded first: until the stream listens to the socket, an error of the socket would end the process.
  const framing = await import("ws");
  const answer = await transport.upgrade({ method: "GET", path, headers, query }, signal);
  const spoken = answer.headers["sec-websocket-protocol"];
  if (answer.headers["sec-websocket-accept"] === ACCEPT && spoken === protocol)
    return new WebSocketStream(answer.socket, framing);
  answer.socket.destroy();
  throw new Error(`${path}: the server speaks ${spoken ?? "no WebSocket"} instead of ${protocol}`);
}

/** Messages over an upgraded socket, with backpressure while nothing is read; each write becomes one binary message. */
export class WebSocketStream extends Duplex {
  readonly #socket: Duplex;
  readonly #receiver: InstanceType<Framing["Receiver"]>;
  readonly #sender: InstanceType<Framing["Sender"]>;

  constructor(socket: Duplex, { Receiver, Sender }: Framing) {
    super({ readableObjectMode: true, writableObjectMode: false, allowHalfOpen: false });
    this.#socket = socket;
    // The mask stays zero: it guards proxies against pages in a browser, and there is none here.
    this.#sender = new Sender(socket, undefined, () => undefined);
    this.#receiver = new Receiver({
      isServer: false,
      maxPayload: LARGEST_MESSAGE,
      maxFragments: MAX_PARTS,
      maxBufferedChunks: MAX_CHUNKS,
    });
    this.#receiver.on("message", (message) => {
      if (!this.destroyed && !this.push(message)) socket.pause();
    });
    this.#receiver.on("ping", (payload) => this.#pinged(payload));
    this.#receiver.on("conclude", (code, reason) => this.#closed(code, reason.toString("utf8")));
    this.#receiver.on("error", (error) =>
      this.destroy(new Error(`the server sent an invalid message: ${error.message}`)),
    );
    socket.on("data", (chunk: Buffer) => {
      // What follows a close is not ours to read.
      if (!this.destroyed && !this.#receiver.writableEnded) this.#receiver.write(chunk);
    });
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.#ended());
    socket.on("end", () => this.#ended());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#sender.send(chunk, MESSAGE, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    // 1000: all is well.
    this.#sender.close(1000, "", true, () => this.#socket.end(() => done()));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #ended(): void {
    if (this.readableEnded || this.destroyed) return;
    this.push(null);
  }

  #pinged(payload: Buffer): void {
    if (this.destroyed) return;
    if (this.#socket.writableLength > MAX_UNSENT) this.destroy(new Error("the server pings and does not read"));
    else this.#sender.pong(payload, true);
  }

  #closed(code: number, why: string): void {
    if (code === 1000 || code === 1005) this.#ended();
    else this.destroy(new Error(why === "" ? `the server closed the stream with code ${code}` : why));
  }
}
