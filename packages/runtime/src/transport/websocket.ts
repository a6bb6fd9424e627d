import { createHash } from "node:crypto";
import { Duplex } from "node:stream";
import type { Transport } from "@capstan/apimachinery";

/** Any sixteen bytes serve: they only prove that the peer's answer is to this request. */
const KEY = "Y2Fwc3Rhbi1zb2NrZXRzIQ==";
const ACCEPT = createHash("sha1").update(`${KEY}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
const LARGEST_MESSAGE = 16 * 1024 ** 2;
/** Frames that one message may come in. */
const MAX_PARTS = 4096;
/** Answers to pings that the server has not taken. */
const MAX_UNSENT = 1024 ** 2;
/** Of a ping or a close (RFC 6455, section 5.5). */
const LARGEST_CONTROL = 125;
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

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
  const answer = await transport.upgrade(
    { method: "GET", path, headers, ...(query === undefined ? {} : { query }) },
    signal,
  );
  const spoken = answer.headers["sec-websocket-protocol"];
  if (answer.headers["sec-websocket-accept"] === ACCEPT && spoken === protocol)
    return new WebSocketStream(answer.socket);
  answer.socket.destroy();
  throw new Error(`${path}: the server speaks ${spoken ?? "no WebSocket"} instead of ${protocol}`);
}

/** Messages over an upgraded socket, with backpressure while nothing is read; each write becomes one binary message. */
export class WebSocketStream extends Duplex {
  readonly #socket: Duplex;
  #buffered: Buffer[] = [];
  #length = 0;
  /** Bytes that the next frame has, as far as that is known. */
  #needed = 2;
  #message: Buffer[] = [];
  #messageBytes = 0;

  constructor(socket: Duplex) {
    super({ readableObjectMode: true, writableObjectMode: false, allowHalfOpen: false });
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.#ended());
    socket.on("end", () => this.#ended());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#socket.write(frame(BINARY, chunk), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    // 1000: all is well.
    this.#socket.end(frame(CLOSE, Buffer.from([0x03, 0xe8])), () => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  #ended(): void {
    if (this.readableEnded || this.destroyed) return;
    this.push(null);
  }

  #take(chunk: Buffer): void {
    this.#buffered.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return;
    // Once for all frames in it: joining again for each would take quadratic time.
    const whole = Buffer.concat(this.#buffered, this.#length);
    let at = 0;
    for (;;) {
      const frame = frameAt(whole, at);
      if (typeof frame === "string") {
        this.destroy(new Error(frame));
        return;
      }
      this.#needed = frame.end - at;
      if (frame.payload === undefined) break;
      at = frame.end;
      this.#handle(frame.first, frame.payload);
      if (this.destroyed) return;
    }
    this.#buffered = at === whole.length ? [] : [whole.subarray(at)];
    this.#length = whole.length - at;
  }

  #handle(first: number, payload: Buffer): void {
    const opcode = first & 0x0f;
    if (opcode === PING) {
      if (this.#socket.writableLength > MAX_UNSENT) this.destroy(new Error("the server pings and does not read"));
      else this.#socket.write(frame(PONG, payload));
    } else if (opcode === CLOSE) this.#closed(payload);
    else if (opcode === BINARY || opcode === TEXT || opcode === 0) {
      this.#messageBytes += payload.length;
      if (this.#messageBytes > LARGEST_MESSAGE || this.#message.length >= MAX_PARTS) {
        this.destroy(new Error(`the server sent a message of more than ${LARGEST_MESSAGE} bytes or too many parts`));
        return;
      }
      this.#message.push(payload);
      if ((first & 0x80) === 0) return;
      const message = this.#message.length === 1 ? payload : Buffer.concat(this.#message);
      this.#message = [];
      this.#messageBytes = 0;
      if (!this.push(message)) this.#socket.pause();
    }
  }

  #closed(payload: Buffer): void {
    const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1000;
    const why = payload.subarray(2).toString("utf8");
    if (code === 1000 || code === 1005) this.#ended();
    else this.destroy(new Error(why === "" ? `the server closed the stream with code ${code}` : why));
  }
}

/** The frame that begins at a place: without its payload while not all of it is there; a text says what is wrong with it. */
function frameAt(bytes: Buffer, at: number): { first: number; end: number; payload: Buffer | undefined } | string {
  const left = bytes.length - at;
  const first = bytes[at] ?? 0;
  if (left < 2) return { first, end: at + 2, payload: undefined };
  const second = bytes[at + 1] ?? 0;
  if ((second & 0x80) !== 0) return "the server sent a masked frame";
  const header = second < 126 ? 2 : second === 126 ? 4 : 10;
  if (left < header) return { first, end: at + header, payload: undefined };
  const size =
    header === 2 ? second : header === 4 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
  const isControl = (first & 0x08) !== 0;
  if (size > (isControl ? LARGEST_CONTROL : LARGEST_MESSAGE)) return `the server sent a message of ${size} bytes`;
  const end = at + header + size;
  return { first, end, payload: left < header + size ? undefined : bytes.subarray(at + header, end) };
}

/** A frame as clients send them. The mask is zero: it guards proxies against pages in a browser, and there is none here. */
function frame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload;
  const header = Buffer.alloc(length < 126 ? 6 : length < 65_536 ? 8 : 14);
  header[0] = 0x80 | opcode;
  if (length < 126) header[1] = 0x80 | length;
  else if (length < 65_536) {
    header[1] = 0x80 | 126;
    header.writeUInt16BE(length, 2);
  } else {
    header[1] = 0x80 | 127;
    header.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([header, payload]);
}
