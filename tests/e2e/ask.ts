import { request as plainRequest } from "node:http";
import { request } from "node:https";
import { connect, type PeerCertificate } from "node:tls";

/** What came of asking again and again. */
export interface Asked {
  asked: number;
  /** What was not answered with 200, and how often had been asked until then. */
  failures: string[];
  longestOutageMs: number;
}

/** Status of a GET over a new connection, or why there was none; without a CA nothing is verified. */
export function statusOf(
  url: string,
  ca?: string,
  headers: Record<string, string> = {},
  timeout = 5000,
): Promise<number | string> {
  return new Promise((resolve) => {
    const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
    const call = (url.startsWith("http:") ? plainRequest : request)(
      url,
      { ...trust, headers, agent: false, timeout },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      },
    );
    call.on("timeout", () => call.destroy(new Error("timeout")));
    call.on("error", (error) => resolve(error.message));
    call.end();
  });
}

/** Asks /version as nobody over a new connection 20 times a second, trusting `ca` and nothing else if there is one, until it is stopped. */
export function askAgainAndAgain(
  server: string | Promise<string>,
  ca?: string,
  { path = "/version", everyMs = 50, timeoutMs = 5000 } = {},
): () => Promise<Asked> {
  const result: Asked = { asked: 0, failures: [], longestOutageMs: 0 };
  let lastAnswer = Date.now();
  let going = true;
  const asking = Promise.resolve(server).then(async (address) => {
    while (going) {
      const answer = await statusOf(`${address}${path}`, ca, {}, timeoutMs);
      result.asked++;
      if (answer === 200) lastAnswer = Date.now();
      else {
        result.failures.push(`${result.asked}: ${answer}`);
        result.longestOutageMs = Math.max(result.longestOutageMs, Date.now() - lastAnswer);
      }
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  });
  return async () => {
    going = false;
    await asking;
    const { asked, failures, longestOutageMs } = result;
    const told = failures.length === 0 ? "" : `, longest outage ${longestOutageMs} ms: ${failures.join("; ")}`;
    console.log(`          asked ${asked} times, ${failures.length} failures${told}`);
    return result;
  };
}

/** The certificate that is shown on a port, to whoever has these keys if that matters. */
export function servedCertificate(
  host: string,
  port: number,
  keys: { cert?: string; key?: string } = {},
): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, rejectUnauthorized: false, ...keys }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on("error", reject);
  });
}
