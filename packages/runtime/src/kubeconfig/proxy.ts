/** Returns the proxy that the environment configures, by the rules of Go's net/http; loopback is never proxied. */
export function proxyFromEnvironment(
  server: string,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const url = new URL(server);
  const read = (name: string): string | undefined => environment[name] ?? environment[name.toLowerCase()];
  const proxy = url.protocol === "https:" ? read("HTTPS_PROXY") : read("HTTP_PROXY");
  if (proxy === undefined || proxy === "") return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost" || host.startsWith("127.") || host === "::1") return undefined;
  if (noProxy(host, url.port, read("NO_PROXY") ?? "")) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function noProxy(host: string, port: string, list: string): boolean {
  return list.split(",").some((raw) => {
    const entry = raw.trim().toLowerCase();
    if (entry === "") return false;
    if (entry === "*") return true;
    if (entry.includes("/")) return inRange(host, entry);
    const [name = "", onlyPort] = entry.split(":");
    if (onlyPort !== undefined && onlyPort !== port) return false;
    const bare = name.replace(/^\*?\./, "");
    return name.startsWith(".") || name.startsWith("*.")
      ? host.endsWith(`.${bare}`)
      : host === bare || host.endsWith(`.${bare}`);
  });
}

/** IPv4 ranges such as 10.0.0.0/8. */
function inRange(host: string, range: string): boolean {
  const [base = "", bits = ""] = range.split("/");
  const a = ipv4(host);
  const b = ipv4(base);
  const length = Number(bits);
  if (a === undefined || b === undefined || !Number.isInteger(length) || length < 0 || length > 32) return false;
  const size = 2 ** (32 - length);
  return Math.floor(a / size) === Math.floor(b / size);
}

function ipv4(text: string): number | undefined {
  const parts = text.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + part, 0);
}
