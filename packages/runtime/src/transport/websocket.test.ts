import { createHash } from "node:crypto";
import { Duplex } from "node:stream";
import type { Transport, Upgraded } from "@capstan/apimachinery";
import { expect, test, vi } from "vitest";
import * as framing from "ws";
import { openWebSocket, WebSocketStream } from "./websocket.ts";

const CONTINUATION = 0;
const BINARY = 2;
const CLOSE = 0x88;
const FINAL = 0x80;
const PING = FINAL | 9;

function frame(first: number, payload: Buffer): Buffer {
  if (payload.length < 126) return Buffer.concat([Buffer.from([first, payload.length]), payload]);
  const header = Buffer.from([first, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  header.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([header, payload]);
}

/** A stream over a socket that gives these pieces; its output, and its final error. */
async function read(pieces: Iterable<Buffer>): Promise<{ messages: string[]; error: string; taken: number }> {
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const stream = new WebSocketStream(socket, framing);
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

test("a socket that breaks as soon as it is upgraded ends its stream, also while the library is not loaded yet", async () => {
  vi.doMock("ws", async (original) => {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    return await original();
  });
  const key = "Y2Fwc3Rhbi1zb2NrZXRzIQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  const accept = createHash("sha1").update(key).digest("base64");
  const headers = { "sec-websocket-protocol": "p", "sec-websocket-accept": accept };
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const upgrade = async (): Promise<Upgraded> => {
    setImmediate(() => socket.listenerCount("error") > 0 && socket.destroy(new Error("reset")));
    return { headers, socket };
  };
  const stream = await openWebSocket({ upgrade } as unknown as Transport, { path: "/", protocol: "p" });
  vi.doUnmock("ws");
  const error = new Promise<Error>((resolve) => stream.once("error", resolve));
  // An unhandled error event would have crashed the process.
  expect(socket.listenerCount("error")).toBeGreaterThan(0);
  expect((await error).message).toBe("reset");
});

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

test("what comes after a close is ignored", async () => {
  const close = frame(CLOSE, Buffer.from([0x03, 0xe8]));
  const pieces = [frame(FINAL | BINARY, Buffer.from("a")), close, frame(FINAL | BINARY, Buffer.from("b"))];
  expect(await read(pieces)).toMatchObject({ messages: ["a"], error: "" });
});

test("a server that sends a frame byte by byte is left before joining it takes long", async () => {
  const bytes = frame(FINAL | BINARY, Buffer.alloc(64_000));
  const { error, messages, taken } = await read(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)));
  expect(error).toContain("Too many buffered chunks");
  expect(messages).toEqual([]);
  expect(taken).toBeLessThan(17_000);
});

const endless = (size: number, count: number): Buffer[] =>
  Array.from({ length: 64 }, (_, i) =>
    Buffer.concat(
      Array.from({ length: count }, (_, j) => frame(i + j === 0 ? BINARY : CONTINUATION, Buffer.alloc(size))),
    ),
  );
test.each([
  ["parts without end", endless(1024 * 1024, 1), "Max payload size exceeded"],
  ["empty parts without end", endless(0, 1_000), "Too many message fragments"],
  ["a ping of a megabyte", Array(64).fill(frame(PING, Buffer.alloc(1024 * 1024))), "invalid payload length"],
])("a server that sends %s is left", async (_what, pieces, message) => {
  const { error, taken } = await read(pieces);
  expect(error).toContain(message);
  expect(taken).toBeLessThan(32 * 1024 * 1024);
});
