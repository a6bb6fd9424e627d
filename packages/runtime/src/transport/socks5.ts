import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Lookup } from "@capstan/apimachinery/foreign";
import type { buildConnector } from "undici";

const VERSION = 5;
const NO_AUTHENTICATION = 0;
const USER_AND_PASSWORD = 2;

/** What a proxy says when it does not connect (RFC 1928, section 6). */
const REFUSALS = [
  "",
  "general failure",
  "connection not allowed by its rules",
  "network unreachable",
  "host unreachable",
  "connection refused",
  "time to live expired",
  "command not supported",
  "address type not supported",
];

/** Creates an undici connector through a SOCKS5 proxy, for `proxy-url: socks5://[user:password@]host[:port]`. */
export function socksConnector(
  proxyUrl: string,
  options: { tls: object; timeoutMs: number; lookup?: Lookup },
): buildConnector.connector {
  return (target, callback) => {
    const secure = target.protocol === "https:";
    const host = target.hostname.replace(/^\[|\]$/g, "");
    const port = Number(target.port) || (secure ? 443 : 80);
    connectThrough(proxyUrl, { host, port }, options)
      .then(async (socket) => {
        const ready = secure ? await overTls(socket, target.servername ?? host, options.tls) : socket;
        // From here on the caller limits silence: a watch may be silent for long.
        socket.removeAllListeners("timeout");
        callback(null, ready);
      })
      .catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null));
  };
}

/** A connection to `target`, whose name the proxy resolves: it may know names that this machine does not. */
async function connectThrough(
  proxyUrl: string,
  target: { host: string; port: number },
  { timeoutMs, lookup }: { timeoutMs: number; lookup?: Lookup },
): Promise<Socket> {
  const proxy = new URL(proxyUrl);
  const socket = connectTcp({
    host: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: Number(proxy.port) || 1080,
    timeout: timeoutMs,
    lookup,
  });
  socket.setNoDelay(true).setKeepAlive(true, 15_000);
  socket.once("timeout", () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)));
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve).once("error", reject);
    });
    const read = reader(socket);
    await authenticate(socket, read, proxy);
    const port = Buffer.alloc(2);
    port.writeUInt16BE(target.port);
    socket.write(Buffer.concat([Buffer.from([VERSION, 1, 0]), addressBytes(target.host), port]));
    const [version, reply = 1, , kind] = await read(4);
    if (version !== VERSION) throw new Error("it does not speak SOCKS5");
    if (reply !== 0) throw new Error(`${target.host}:${target.port}: ${REFUSALS[reply] ?? `error ${reply}`}`);
    // The address it connects from, which is not needed.
    await read((kind === 1 ? 4 : kind === 4 ? 16 : ((await read(1))[0] ?? 0)) + 2);
    return socket;
  } catch (error) {
    socket.destroy();
    // Without user and password: the text may reach a log.
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`SOCKS5 proxy ${proxy.host}: ${reason}`, { cause: error });
  }
}

async function authenticate(socket: Socket, read: (length: number) => Promise<Buffer>, proxy: URL): Promise<void> {
  const known = proxy.username !== "";
  socket.write(
    Buffer.from(known ? [VERSION, 2, NO_AUTHENTICATION, USER_AND_PASSWORD] : [VERSION, 1, NO_AUTHENTICATION]),
  );
  const [version, method] = await read(2);
  if (version !== VERSION) throw new Error("it does not speak SOCKS5");
  if (method === NO_AUTHENTICATION) return;
  if (method !== USER_AND_PASSWORD || !known) throw new Error("it wants a user and a password, or another proof");
  const user = Buffer.from(decodeURIComponent(proxy.username));
  const password = Buffer.from(decodeURIComponent(proxy.password));
  if (user.length > 255 || password.length > 255) throw new Error("user or password are too long");
  socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([password.length]), password]));
  if ((await read(2))[1] !== 0) throw new Error("it refuses the user or the password");
}

function addressBytes(host: string): Buffer {
  if (isIP(host) === 4) return Buffer.from([1, ...host.split(".").map(Number)]);
  const name = Buffer.from(host);
  if (name.length > 255) throw new Error("the name of the server is too long");
  // IPv6 addresses go as text too: proxies read them as they read names.
  return Buffer.concat([Buffer.from([3, name.length]), name]);
}

/** Reads exact numbers of bytes; what comes after them stays in the socket. */
function reader(socket: Socket): (length: number) => Promise<Buffer> {
  return (length) =>
    new Promise((resolve, reject) => {
      const attempt = (): void => {
        const chunk = length === 0 ? Buffer.alloc(0) : (socket.read(length) as Buffer | null);
        if (chunk === null) {
          socket.once("readable", attempt);
          return;
        }
        if (chunk.length < length) finish(() => reject(new Error("it closed the connection")));
        else finish(() => resolve(chunk));
      };
      const fail = (error?: Error): void => finish(() => reject(error ?? new Error("it closed the connection")));
      const ended = (): void => fail();
      const finish = (end: () => void): void => {
        socket.off("readable", attempt).off("error", fail).off("end", ended);
        end();
      };
      socket.once("error", fail).once("end", ended);
      attempt();
    });
}

function overTls(socket: Socket, servername: string, tls: object): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const name = isIP(servername) === 0 ? { servername } : {};
    const secure = connectTls({ ...name, ...tls, socket, ALPNProtocols: ["http/1.1"] });
    secure.once("secureConnect", () => {
      secure.off("error", reject);
      resolve(secure);
    });
    secure.once("error", reject);
    // A connection that closes during the handshake has no error of its own.
    socket.once("close", () => reject(new Error("the connection ended before TLS was agreed on")));
  });
}
