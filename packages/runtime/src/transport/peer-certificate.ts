import { connect, type PeerCertificate } from "node:tls";
import type { Clock } from "@capstan/apimachinery";
import { guardOf } from "./agents.ts";
import type { ClientConfig } from "./client-config.ts";

/** Errors of OpenSSL about a certificate that no trusted authority has signed. */
const UNTRUSTED =
  /^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|CERT_SIGNATURE_FAILURE|CERT_UNTRUSTED)$/;
const TIMEOUT_MS = 5_000;
const MAX_NAME = 120;

/**
 * Names the certificate that a server showed when it was not trusted; undefined for other errors. The error does not carry the
 * certificate, so it is fetched by another handshake, in which nothing is sent and no client certificate is offered.
 */
export async function untrustedPeer(config: ClientConfig, error: unknown, clock: Clock): Promise<string | undefined> {
  const code = String((error as { code?: unknown } | undefined)?.code ?? "");
  if (!UNTRUSTED.test(code) || config.connect !== undefined || config.proxyUrl !== undefined) return undefined;
  // A server name that cannot be sent must not hide the first error.
  const shown = await certificateOf(config, clock).catch(() => undefined);
  if (shown === undefined) return undefined;
  const names = (shown.subjectaltname ?? "").replaceAll("DNS:", "").replaceAll("IP Address:", "");
  const also = names === "" ? "" : ` (${printable(names)})`;
  return `its certificate is that of ${nameOf(shown.subject)}${also}, issued by ${nameOf(shown.issuer)}`;
}

async function certificateOf(config: ClientConfig, clock: Clock): Promise<PeerCertificate | undefined> {
  const { hostname, port } = new URL(config.server);
  const host = hostname.replace(/^\[|\]$/g, "");
  const { serverName = host } = config.tls ?? {};
  const named = /^[\d.]+$|:/.test(serverName) ? {} : { servername: serverName };
  return await new Promise((resolve) => {
    // It is read and never trusted: the connection is closed before anything is sent.
    const socket = connect({
      host,
      port: Number(port) || 443,
      ...named,
      ...guardOf(config),
      rejectUnauthorized: false,
    });
    const end = (found?: PeerCertificate): void => {
      cancel();
      socket.destroy();
      resolve(found);
    };
    const cancel = clock.after(TIMEOUT_MS, () => end());
    socket.once("secureConnect", () => end(socket.getPeerCertificate()));
    socket.once("error", () => end());
  });
}

function nameOf(name: PeerCertificate["subject"] | undefined): string {
  const parts = Object.entries(name ?? {}).flatMap(([key, value]) => [value].flat().map((each) => `${key}=${each}`));
  return parts.length === 0 ? "no name" : printable(parts.join(","));
}

/** Whoever answers chooses the names. */
function printable(text: string): string {
  const clean = text.replace(/[^\x20-\x7e]/g, "?");
  return clean.length > MAX_NAME ? `${clean.slice(0, MAX_NAME)}…` : clean;
}
