import { yieldToEventLoop } from "@capstan/apimachinery/foreign";
import type { WatchSink, WatchStream } from "../registry/watch.ts";
import type { OutgoingEvent } from "../registry/watch-events.ts";
import type { ApiCall } from "./api-call.ts";
import { type HttpResponse, headersOf } from "./http-reply.ts";
import type { Reply } from "./reply.ts";

/** A client with this much unread data is disconnected; it reconnects and resumes. Writers never wait for readers. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Streams a watch to a socket until either side closes it; returns a function that closes it gracefully. */
export function writeWatch(
  response: HttpResponse & { destroy(): unknown; flushHeaders?(): void },
  call: ApiCall,
  reply: Reply,
  stream: WatchStream,
  auditId: string,
  onEnd: () => void,
): () => void {
  response.writeHead(200, headersOf(call, reply, auditId));
  response.flushHeaders?.();
  const sink = new SocketSink(response);
  const stop = stream.start(sink);
  sink.onOverflow = () => {
    stop();
    response.destroy();
  };
  response.once("close", () => {
    stop();
    onEnd();
  });
  return () => {
    stop();
    sink.end();
  };
}

/** Encrypted writes per event-loop turn: some ten microseconds each. */
const WRITES_AT_ONCE = 500;

/** Lets one change that thousands watch out in pieces. Writes to a socket keep their order. */
class Outbox {
  #written = 0;
  readonly #waiting: (() => void)[] = [];

  put(write: () => void): void {
    if (this.#waiting.length > 0 || this.#written >= WRITES_AT_ONCE) {
      this.#waiting.push(write);
      return;
    }
    if (this.#written++ === 0) void yieldToEventLoop().then(() => this.#nextTurn());
    write();
  }

  #nextTurn(): void {
    const some = this.#waiting.splice(0, WRITES_AT_ONCE);
    this.#written = some.length;
    if (some.length > 0) void yieldToEventLoop().then(() => this.#nextTurn());
    for (const write of some) write();
  }
}

const outbox = new Outbox();

class SocketSink implements WatchSink {
  onOverflow: (() => void) | undefined;
  readonly #response: HttpResponse;
  #unread = 0;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  send(events: readonly OutgoingEvent[]): void {
    if (this.#response.writableEnded) return;
    const [first] = events;
    if (first === undefined) return;
    const bytes = events.length === 1 ? first.line() : Buffer.concat(events.map((event) => event.line()));
    this.#unread += bytes.length;
    if (this.#unread > MAX_UNREAD_BYTES) {
      this.onOverflow?.();
      return;
    }
    outbox.put(() => {
      if (this.#response.writableEnded) return;
      this.#response.write(bytes, () => {
        this.#unread -= bytes.length;
      });
    });
  }

  end(): void {
    outbox.put(() => {
      if (!this.#response.writableEnded) this.#response.end();
    });
  }
}
