import { isIP } from "node:net";

/** Whether a text is an IPv4 or IPv6 address with a prefix length. */
export function isCidr(value: string): boolean {
  const [ip = "", length = "", ...rest] = value.split("/");
  const family = isIP(ip);
  return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
}

/** Whether a text is an IP address, of one family when given. */
export function isAddress(value: string, family?: 4 | 6): boolean {
  const found = isIP(value);
  return family === undefined ? found !== 0 : found === family;
}
