import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { systemClock } from "@capstan/apimachinery";
import { Client, httpTransport } from "@capstan/runtime";

/** An API server that forwards ports of pods to an address, as far as connections go; `silent` is one whose kubelet has stopped. */
export async function forwardingApi(to: { host: string; port: number } | "silent") {
  const asked: string[] = [];
  const open = new Set<Duplex>();
  const server = createServer((_request, response) => response.writeHead(400).end());
  server.on("upgrade", (request, socket) => {
    asked.push(request.url ?? "");
    open.add(socket);
    socket.on("error", () => undefined);
    if (to === "silent") return;
    const key = `${String(request.headers["sec-websocket-key"])}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: v4.channel.k8s.io\r\n\r\n`,
    );
    const send = (channel: number, data: Buffer): void => {
      const head = Buffer.alloc(10);
      head[0] = 0x82;
      head[1] = 127;
      head.writeBigUInt64BE(BigInt(data.length + 1), 2);
      socket.write(Buffer.concat([head, Buffer.from([channel]), data]));
    };
    const port = Buffer.alloc(2);
    port.writeUInt16LE(to.port);
    send(0, port);
    send(1, port);
    const target = connect(to);
    open.add(target);
    target.on("error", () => socket.destroy());
    target.on("data", (data: Buffer) => send(0, data));
    target.on("close", () => socket.destroy());
    socket.on("close", () => target.destroy());
    let rest = Buffer.alloc(0);
    socket.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let frame = unmasked(rest); frame !== undefined; frame = unmasked(rest)) {
        rest = rest.subarray(frame.length);
        if (frame.opcode === 2 && frame.data[0] === 0) target.write(frame.data.subarray(1));
        if (frame.opcode === 8) socket.end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const transport = httpTransport({ server: url }, { clock: systemClock });
  return {
    asked,
    client: new Client(transport, { fieldManager: "test", clock: systemClock }),
    close: async () => {
      await transport.close();
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The first whole frame of a client, which masks what it sends. */
function unmasked(bytes: Buffer): { opcode: number; data: Buffer; length: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const at = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < at + 4) return undefined;
  const size = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  const length = at + 4 + size;
  if (bytes.length < length) return undefined;
  const key = bytes.subarray(at, at + 4);
  const data = Buffer.from(bytes.subarray(at + 4, length).map((byte, index) => byte ^ (key[index % 4] ?? 0)));
  return { opcode: (bytes[0] ?? 0) & 0x0f, data, length };
}
