import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createTcp } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { systemClock } from "@capstan/apimachinery";
import { Client, httpTransport } from "@capstan/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { execInPod, forwardPort } from "./pod-streams.ts";

/** A kubelet behind an API server, as far as streams go; frames written by hand, so that both sides do not share a mistake. */
let server: Server;
let transport: ReturnType<typeof httpTransport>;
let client: Client;
/** What is done with a stream: `send` writes a message on a channel. */
let play: (stream: {
  request: IncomingMessage;
  send(channel: number, data: Buffer | string): void;
  end(): void;
}) => (channel: number, data: Buffer) => void;
const open = new Set<Duplex>();
let protocol = "v4.channel.k8s.io";

beforeEach(async () => {
  protocol = "v4.channel.k8s.io";
  server = createServer((request, response) => {
    const forbidden = request.url?.includes("forbidden") === true;
    const message = forbidden
      ? 'pods "forbidden" is forbidden: cannot get pods/portforward'
      : "Upgrade request required";
    response.writeHead(forbidden ? 403 : 400, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ apiVersion: "v1", kind: "Status", status: "Failure", message, code: forbidden ? 403 : 400 }),
    );
  });
  server.on("upgrade", (request, socket) => {
    open.add(socket);
    if (request.headers.accept !== "*/*") return socket.end("HTTP/1.1 406 Not Acceptable\r\ncontent-length: 0\r\n\r\n");
    if (request.url?.includes("forbidden") === true)
      return socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    const accept = createHash("sha1")
      .update(`${String(request.headers["sec-websocket-key"])}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\nsec-websocket-protocol: ${protocol}\r\n\r\n`,
    );
    const send = (channel: number, data: Buffer | string): void => {
      const payload = Buffer.concat([Buffer.from([channel]), Buffer.from(data)]);
      const size = Buffer.alloc(payload.length < 126 ? 2 : 10);
      size[0] = 0x82;
      size[1] = payload.length < 126 ? payload.length : 127;
      if (payload.length >= 126) size.writeBigUInt64BE(BigInt(payload.length), 2);
      // A ping in between, and a frame cut in two, as networks do.
      socket.write(Buffer.from([0x89, 0]));
      socket.write(size.subarray(0, 1));
      socket.write(Buffer.concat([size.subarray(1), payload]));
    };
    const take = play({ request, send, end: () => socket.end(Buffer.from([0x88, 2, 0x03, 0xe8])) });
    let rest = Buffer.alloc(0);
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        if (rest.length < 6) return;
        const short = (rest[1] ?? 0) & 0x7f;
        const at = short === 126 ? 4 : short === 127 ? 10 : 2;
        const length = short === 126 ? rest.readUInt16BE(2) : short === 127 ? Number(rest.readBigUInt64BE(2)) : short;
        if (rest.length < at + 4 + length) return;
        const key = rest.subarray(at, at + 4);
        const data = Buffer.from(
          rest.subarray(at + 4, at + 4 + length).map((byte, index) => byte ^ (key[index % 4] ?? 0)),
        );
        const opcode = (rest[0] ?? 0) & 0x0f;
        rest = rest.subarray(at + 4 + length);
        if (opcode === 2) take(data[0] ?? 0, data.subarray(1));
        if (opcode === 8) socket.end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  transport = httpTransport(
    { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    { clock: systemClock },
  );
  client = new Client(transport, { fieldManager: "test", clock: systemClock });
});

afterEach(async () => {
  await transport.close();
  server.closeAllConnections();
  for (const socket of open) socket.destroy();
  open.clear();
  await new Promise((resolve) => server.close(resolve));
});

const pod = { namespace: "default", name: "p" };

test("a port of a pod is a connection, however large what passes", async () => {
  const echo = createTcp((socket) => socket.pipe(socket));
  await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
  let asked = "";
  play = ({ request, send, end }) => {
    asked = request.url ?? "";
    const port = Buffer.from([0x4b, 0x09]);
    send(0, port);
    send(1, port);
    const target: Duplex = connect((echo.address() as AddressInfo).port, "127.0.0.1");
    open.add(target);
    target.on("data", (data: Buffer) => send(0, data));
    target.on("end", end);
    return (channel, data) => {
      if (channel === 0) target.write(data);
    };
  };
  const stream = await forwardPort(client, pod, 2379);
  expect(asked).toBe("/api/v1/namespaces/default/pods/p/portforward?ports=2379");
  const sent = Buffer.alloc(3_000_000, "0123456789");
  stream.write(sent);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= sent.length) break;
  }
  expect(Buffer.concat(chunks).equals(sent)).toBe(true);
  echo.close();
});

test("reports what keeps the kubelet from the port", async () => {
  play = ({ send, end }) => {
    send(0, Buffer.from([0x4b, 0x09]));
    send(1, Buffer.from([0x4b, 0x09]));
    send(1, "error forwarding port 2379: connection refused");
    end();
    return () => undefined;
  };
  const stream = await forwardPort(client, pod, 2379);
  await expect(stream.toArray()).rejects.toThrow("connection refused");
});

test("reports a refusal with the server's message, and accepts no other protocol", async () => {
  await expect(forwardPort(client, { ...pod, name: "forbidden" }, 1)).rejects.toThrow(
    /forbidden: cannot get pods\/portforward/,
  );
  protocol = "v5.channel.k8s.io";
  play = () => () => undefined;
  await expect(forwardPort(client, pod, 1)).rejects.toThrow("the server speaks v5.channel.k8s.io instead of v4");
});

test("a program in a pod reads its input; its exit is reported", async () => {
  let got = 0;
  let asked = "";
  play = ({ request, send }) => {
    asked = request.url ?? "";
    return (channel, data) => {
      if (channel === 0) got += data.length;
      if (got === 1_000_000) send(3, JSON.stringify({ status: "Success" }));
    };
  };
  await execInPod(client, { ...pod, container: "c" }, ["head", "-c", "9"], Readable.from([Buffer.alloc(1_000_000)]));
  expect(got).toBe(1_000_000);
  expect(asked).toBe(
    "/api/v1/namespaces/default/pods/p/exec?command=head&command=-c&command=9&stdin=true&stdout=true&stderr=true&container=c",
  );
  play = ({ send, end }) => {
    send(2, "sh: sha256sum: not found\n");
    send(3, JSON.stringify({ status: "Failure", message: "command terminated with exit code 127" }));
    end();
    return () => undefined;
  };
  await expect(execInPod(client, pod, ["sh"], Readable.from([Buffer.alloc(10)]))).rejects.toThrow(
    "command terminated with exit code 127: sh: sha256sum: not found",
  );
});
