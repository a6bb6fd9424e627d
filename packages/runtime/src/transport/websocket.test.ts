import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { WebSocketStream } from "./websocket.ts";

const BINARY = 2;
const FINAL = 0x80;
const PING = FINAL | 9;

function frame(first: number, payload: Buffer): Buffer {
  if (payload.length < 126) return Buffer.concat([Buffer.from([first, payload.length]), payload]);
  const header = Buffer.from([first, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  header.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([header, payload]);
}

/** A stream over a socket that gives these pieces; what comes out of it, and the error it ends with. */
async function read(pieces: Iterable<Buffer>): Promise<{ messages: string[]; error: string; taken: number }> {
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const stream = new WebSocketStream(socket);
  const messages: string[] = [];
  let error = "";
  let taken = 0;
  stream.on("data", (message: Buffer) => messages.push(message.toString("latin1")));
  stream.on("error", (reason) => {
    error = reason.message;
  });
  for (const piece of pieces) {
    if (stream.destroyed) break;
    taken += piece.length;
    socket.push(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  stream.destroy();
  return { messages, error, taken };
}

test("messages come whole, wherever their frames are cut", async () => {
  const long = Buffer.alloc(70_000, "l");
  const bytes = Buffer.concat([
    frame(FINAL | BINARY, Buffer.from("a")),
    frame(BINARY, Buffer.from("b")),
    frame(PING, Buffer.from("p")),
    frame(FINAL, Buffer.from("c")),
    frame(FINAL | BINARY, long),
    frame(FINAL | BINARY, Buffer.from("d")),
  ]);
  for (const size of [1_009, 7, bytes.length]) {
    const pieces = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
    expect((await read(pieces)).messages).toEqual(["a", "bc", long.toString("latin1"), "d"]);
  }
});

test("many frames in one piece are taken apart without copying the rest for each", async () => {
  const before = process.cpuUsage();
  const { messages } = await read([Buffer.concat(Array(300_000).fill(frame(FINAL | BINARY, Buffer.from("x"))))]);
  expect(messages.length).toBe(300_000);
  const { user, system } = process.cpuUsage(before);
  // Copying takes minutes.
  expect((user + system) / 1_000).toBeLessThan(10_000);
});

test.each([
  ["parts without end", frame(BINARY, Buffer.alloc(1024 * 1024)), "16777216 bytes or too many parts"],
  ["empty parts without end", Buffer.concat(Array(1_000).fill(frame(BINARY, Buffer.alloc(0)))), "too many parts"],
  ["a ping of a megabyte", frame(PING, Buffer.alloc(1024 * 1024)), "a message of 1048576 bytes"],
])("a server that sends %s is left", async (_what, piece, message) => {
  const { error, taken } = await read(Array(64).fill(piece));
  expect(error).toContain(message);
  expect(taken).toBeLessThan(32 * 1024 * 1024);
});
