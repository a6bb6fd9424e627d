import { parseIpv6 } from "./ip-address.ts";

/** A URL as Go's net/url sees it. */
export interface GoUrl {
  readonly scheme: string;
  readonly user: string;
  /** Host with port, brackets kept. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly escapedPath: string;
  readonly rawQuery: string;
}

/** url.ParseRequestURI: an absolute URI or an absolute path; undefined when Go refuses it. */
export function parseRequestUri(text: string): GoUrl | undefined {
  if (text === "" || hasControl(text)) return undefined;
  if (text === "*") return urlOf("", "", "", "*", "");
  const scheme = splitScheme(text);
  if (scheme === undefined) return undefined;
  let rest = scheme.rest;
  let query = "";
  const question = rest.indexOf("?");
  if (question >= 0) {
    query = rest.slice(question + 1);
    rest = rest.slice(0, question);
  }
  if (!rest.startsWith("/")) return scheme.name === "" ? undefined : urlOf(scheme.name, "", "", "", query);
  let authority = "";
  if ((scheme.name !== "" || !rest.startsWith("///")) && rest.startsWith("//")) {
    const slash = rest.indexOf("/", 2);
    authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? "" : rest.slice(slash);
  }
  const at = authority.lastIndexOf("@");
  const user = at < 0 ? "" : authority.slice(0, at);
  const host = authority.slice(at + 1);
  if (!validUser(user) || !validHost(host) || !validEscapes(rest)) return undefined;
  return urlOf(scheme.name, user, host, escapePath(rest), query);
}

/** Whether a text has the `uri` format. */
export function isRequestUri(text: string): boolean {
  return parseRequestUri(text) !== undefined;
}

function urlOf(scheme: string, user: string, host: string, path: string, rawQuery: string): GoUrl {
  const port = /:(\d*)$/.exec(host.startsWith("[") ? host.slice(host.indexOf("]") + 1) : host)?.[1] ?? "";
  let hostname = port === "" && !host.endsWith(":") ? host : host.slice(0, host.lastIndexOf(":"));
  if (hostname.startsWith("[") && hostname.endsWith("]")) hostname = hostname.slice(1, -1);
  return {
    scheme,
    user,
    host: unescapeHost(host),
    hostname: unescapeHost(hostname),
    port,
    escapedPath: path,
    rawQuery,
  };
}

function unescapeHost(host: string): string {
  try {
    return decodeURIComponent(host);
  } catch {
    return host;
  }
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

function splitScheme(text: string): { name: string; rest: string } | undefined {
  for (let i = 0; i < text.length; i++) {
    const ch = text[i] ?? "";
    if (/[a-zA-Z]/.test(ch)) continue;
    if (/[0-9+\-.]/.test(ch)) {
      if (i === 0) return { name: "", rest: text };
      continue;
    }
    if (ch === ":") return i === 0 ? undefined : { name: text.slice(0, i).toLowerCase(), rest: text.slice(i + 1) };
    return { name: "", rest: text };
  }
  return { name: "", rest: text };
}

function validEscapes(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text);
}

function validUser(user: string): boolean {
  return /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) && validEscapes(user);
}

function validHost(host: string): boolean {
  if (host.startsWith("[")) {
    const end = host.lastIndexOf("]");
    if (end < 0 || !/^(?::\d*)?$/.test(host.slice(end + 1))) return false;
    const zone = host.slice(1, end).split("%25");
    return parseIpv6(zone[0] ?? "") !== undefined;
  }
  const colon = host.lastIndexOf(":");
  if (colon >= 0 && !/^\d*$/.test(host.slice(colon + 1))) return false;
  if (!validEscapes(host)) return false;
  return !/[ "#/?@[\\\]^`{|}]/.test(host.replace(/:\d*$/, "")) && !/%[0-7][0-9a-fA-F]/.test(host);
}

function escapePath(path: string): string {
  // What Go's EscapedPath keeps as written; everything else is percent-encoded.
  let out = "";
  for (const ch of path) {
    if (/[A-Za-z0-9\-._~$&+,/:;=@%!'()*[\]]/.test(ch)) out += ch;
    else out += encodeURIComponent(ch);
  }
  return out;
}
