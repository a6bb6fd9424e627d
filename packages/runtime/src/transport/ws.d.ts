/** The framing of the library `ws`, which it exports without types. */
declare module "ws" {
  import type { Duplex, Writable } from "node:stream";

  /** Decodes frames written to it; emits `message`, `ping` and `conclude`. */
  export class Receiver extends Writable {
    constructor(options: { isServer: boolean; maxPayload: number; maxFragments: number; maxBufferedChunks: number });
    on(event: "message", listener: (message: Buffer, isBinary: boolean) => void): this;
    on(event: "ping", listener: (payload: Buffer) => void): this;
    on(event: "conclude", listener: (code: number, reason: Buffer) => void): this;
    on(event: "drain", listener: () => void): this;
    on(event: "error", listener: (error: Error) => void): this;
  }

  /** Encodes frames and writes them to a socket. */
  export class Sender {
    constructor(socket: Duplex, extensions: undefined, generateMask: (mask: Buffer) => void);
    send(
      data: Buffer,
      options: { fin: boolean; binary: boolean; compress: boolean; mask: boolean },
      done: (error?: Error | null) => void,
    ): void;
    pong(data: Buffer, mask: boolean): void;
    close(code: number, data: string, mask: boolean, done: (error?: Error | null) => void): void;
  }
}
