import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { createCertificateAuthority, issueCertificate } from "@capstan/pki";
import { afterAll, beforeAll, expect, test } from "vitest";
import { kubeconfigFromText } from "../kubeconfig/load.ts";
import { httpTransport } from "./http-transport.ts";
import { socksConnector } from "./socks5.ts";

/** The API lives under a name that only the proxies know: what reaches it went through one. */
const NAME = "api.behind.example";
const DAY_MS = 86_400_000;
const closers: (() => void)[] = [];
let apiPort = 0;
let caPem = "";
let socksPort = 0;
let connectPort = 0;
let through: string[] = [];

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

function join(a: Socket, b: Socket): void {
  a.pipe(b);
  b.pipe(a);
  for (const socket of [a, b]) socket.on("error", () => [a, b].forEach((each) => each.destroy()));
}

/** RFC 1928 and 1929, one byte at a time where it matters: answers need not come in one piece. */
async function serveSocks(client: Socket): Promise<void> {
  const next = async (length: number): Promise<Buffer> => {
    for (;;) {
      const chunk = client.read(length) as Buffer | null;
      if (chunk !== null) return chunk;
      await once(client, "readable");
    }
  };
  const [, count = 0] = await next(2);
  const methods = [...(await next(count))];
  if (!methods.includes(2)) return void client.end(Buffer.from([5, 0xff]));
  client.write(Buffer.from([5]));
  client.write(Buffer.from([2]));
  const [, userLength = 0] = await next(2);
  const user = (await next(userLength)).toString();
  const password = (await next((await next(1))[0] ?? 0)).toString();
  const good = user === "us:er" && password === "pass";
  client.write(Buffer.from([1, good ? 0 : 1]));
  if (!good) return void client.end();
  const [, , , kind] = await next(4);
  const host = kind === 3 ? (await next((await next(1))[0] ?? 0)).toString() : (await next(4)).join(".");
  const port = (await next(2)).readUInt16BE();
  through.push(`socks5 ${host}:${port}`);
  if (host !== NAME) return void client.end(Buffer.from([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]));
  const server = connect(port, "127.0.0.1", () => {
    client.write(Buffer.from([5, 0, 0, 3, 4, 1, 2, 3, 4, 0, 80]));
    join(client, server);
  });
}

beforeAll(async () => {
  const nowMs = systemClock.now();
  const ca = await createCertificateAuthority({
    commonName: "ca",
    notBeforeMs: nowMs - DAY_MS,
    validMs: 10 * DAY_MS,
    random: systemRandom,
  });
  const { certPem, keyPem } = await issueCertificate(ca, {
    commonName: NAME,
    dnsNames: [NAME],
    usages: ["server"],
    nowMs,
    validMs: DAY_MS,
    random: systemRandom,
  });
  caPem = ca.certPem;
  apiPort = await portOf(
    createHttpsServer({ cert: certPem, key: keyPem }, (request, response) => {
      const body = JSON.stringify({ authorization: request.headers.authorization });
      response.writeHead(200, { "content-type": "application/json" }).end(body);
    }),
  );
  socksPort = await portOf(createServer((socket) => void serveSocks(socket).catch(() => socket.destroy())));
  const tunnel = createHttpServer();
  tunnel.on("connect", (request, client: Socket) => {
    through.push(`http ${request.url} ${request.headers["proxy-authorization"]}`);
    const server = connect(apiPort, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      join(client, server);
    });
  });
  connectPort = await portOf(tunnel);
});

afterAll(() => {
  for (const close of closers) close();
});

async function ask(proxyUrl: string, host = NAME, trusted = caPem): Promise<unknown> {
  through = [];
  const ca = Buffer.from(trusted).toString("base64");
  const text = JSON.stringify({
    "current-context": "a",
    clusters: [
      {
        name: "c",
        cluster: { server: `https://${host}:${apiPort}`, "certificate-authority-data": ca, "proxy-url": proxyUrl },
      },
    ],
    users: [{ name: "u", user: { username: "jane", password: "pässword" } }],
    contexts: [{ name: "a", context: { cluster: "c", user: "u" } }],
  });
  const transport = httpTransport(await kubeconfigFromText(text, { clock: systemClock }), { clock: systemClock });
  try {
    return (await transport.request({ method: "GET", path: "/api" })).body;
  } finally {
    await transport.close();
  }
}

const BASIC = { authorization: `Basic ${Buffer.from("jane:pässword").toString("base64")}` };

test("SOCKS5 with user and password; the proxy resolves the name, the server's certificate is checked", async () => {
  expect(await ask(`socks5://us%3Aer:pass@127.0.0.1:${socksPort}`)).toEqual(BASIC);
  expect(through).toEqual([`socks5 ${NAME}:${apiPort}`]);
});

test("HTTP proxy with user and password", async () => {
  expect(await ask(`http://us:pass@127.0.0.1:${connectPort}`)).toEqual(BASIC);
  expect(through).toEqual([`http ${NAME}:${apiPort} Basic ${Buffer.from("us:pass").toString("base64")}`]);
});

test.each([
  ["wrong password", (): string => `socks5://us%3Aer:secret-word@127.0.0.1:${socksPort}`, NAME, /refuses the user/],
  ["no password", (): string => `socks5://127.0.0.1:${socksPort}`, NAME, /wants a user and a password/],
  ["unknown host", (): string => `socks5://us%3Aer:pass@127.0.0.1:${socksPort}`, "other.example", /host unreachable/],
  ["no SOCKS", (): string => `socks5://us%3Aer:pass@127.0.0.1:${connectPort}`, NAME, /does not speak SOCKS5|closed/],
])("SOCKS5, %s: the error says what the proxy said and no password", async (_, proxy, host, expected) => {
  const error = await ask(proxy(), host).then(
    () => expect.fail("reached"),
    (reason: unknown) => String(reason),
  );
  expect(error).toMatch(expected);
  expect(error).not.toContain("secret-word");
});

test("SOCKS5, a server that accepts and never agrees on TLS is given up", async () => {
  const silent = await portOf(
    createServer((socket) => {
      socket.once("data", () => socket.write(Buffer.from([5, 0])));
      socket.once("data", () => socket.once("data", () => socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))));
    }),
  );
  const connector = socksConnector(`socks5://127.0.0.1:${silent}`, { tls: {}, timeoutMs: 50 });
  const error = await new Promise((resolve) => {
    connector({ hostname: NAME, protocol: "https:", port: "443" }, (...[failure]) => resolve(failure));
  });
  expect(String(error)).toMatch(/no answer within 50 ms|before TLS was agreed on/);
});
test.each([
  ["SOCKS5", (): string => `socks5://us%3Aer:pass@127.0.0.1:${socksPort}`],
  ["HTTP", (): string => `http://us:pass@127.0.0.1:${connectPort}`],
])(
  "%s proxy: a server that another authority vouches for is not trusted, whoever stands in between",
  async (_, proxy) => {
    const stranger = await createCertificateAuthority({
      commonName: "ca",
      notBeforeMs: systemClock.now() - DAY_MS,
      validMs: DAY_MS,
      random: systemRandom,
    });
    await expect(ask(proxy(), NAME, stranger.certPem)).rejects.toThrow(/certificate|signature/i);
  },
);
