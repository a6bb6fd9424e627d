import { readFileSync } from "node:fs";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { TLSSocket } from "node:tls";
import type { Probe } from "../types.ts";

const ATTEMPT_TIMEOUT_MS = 3000;

/** Of programs that share a port, the kernel chooses which one responds, so the probe is repeated this often. */
const SHARED_PORT_TRIES = 16;

/** kube-apiserver's list of checks has some 3 KiB. */
const LONGEST_BODY = 16 * 1024;

/** A keep-alive connection that probes reuse, because the TLS handshake dominates the cost of a probe. */
export type ProbeConnection = HttpAgent;

/** Creates the keep-alive connection for the URL of a probe. */
export function probeConnection(probe: Probe): ProbeConnection {
  const options = { keepAlive: true, maxSockets: 1 };
  return probe.url.startsWith("https:") ? new HttpsAgent(options) : new HttpAgent(options);
}

/** Explains why a program is not ready. */
export interface ProbeProblem {
  text: string;
  /** The failing checks, where the program names them. */
  failing: string[];
  /** Whether other programs answered on its port during the probe. */
  sharesPort: boolean;
  /** Nothing answered, as opposed to an answer that the program is not ready. */
  silent: boolean;
}

/** Probes a program once. Returns undefined when it is ready, else the problem; never throws. */
export async function attemptProbe(
  probe: Probe,
  expandPath: (text: string) => string,
  connection?: ProbeConnection,
): Promise<ProbeProblem | undefined> {
  let sharesPort = false;
  for (let tries = 0; ; tries++) {
    const { problem, failing = [], byAnother, stale, answered } = await ask(probe, expandPath, connection);
    // A connection that was open for long may have been closed by the other side just now.
    if (stale === true && tries === 0) continue;
    if (byAnother !== true)
      return problem === undefined ? undefined : { text: problem, failing, sharesPort, silent: answered !== true };
    sharesPort = true;
    if (tries >= SHARED_PORT_TRIES)
      return { text: "does not respond yet; another program on its port does", failing: [], sharesPort, silent: false };
  }
}

interface Answer {
  problem: string | undefined;
  failing?: string[];
  answered?: boolean;
  /** Whether another program that shares the port answered instead. */
  byAnother?: boolean;
  /** Whether it failed on a connection that had been used before. */
  stale?: boolean;
}

function ask(probe: Probe, expandPath: (text: string) => string, connection?: ProbeConnection): Promise<Answer> {
  const url = new URL(probe.url);
  return new Promise((resolve) => {
    const fail = (problem: string, stale = false): void => resolve({ problem, stale });
    const options: Record<string, unknown> = {
      method: "GET",
      timeout: ATTEMPT_TIMEOUT_MS,
      agent: connection ?? false,
    };
    if (url.protocol === "https:") {
      // Health of an address we chose ourselves: the certificate is not what is being tested.
      options["rejectUnauthorized"] = false;
      try {
        if (probe.certFile !== undefined) options["cert"] = readFileSync(expandPath(probe.certFile));
        if (probe.keyFile !== undefined) options["key"] = readFileSync(expandPath(probe.keyFile));
      } catch (error) {
        fail(`cannot read the probe's certificate: ${String(error)}`);
        return;
      }
    }
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(url, options, (response) => {
      const byAnother = probe.servedBy !== undefined && !showsName(response, probe.servedBy);
      // The next attempt needs a new connection. At its end the response no longer has one.
      const { socket } = response;
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        if (body.length < LONGEST_BODY) body += chunk;
      });
      response.on("error", (error) => fail(String(error)));
      response.on("end", () => {
        if (byAnother) socket.destroy();
        const status = response.statusCode ?? 0;
        const good = status >= 200 && status < 300;
        resolve({
          problem: good ? undefined : `${url.pathname} answered ${status}: ${firstFailure(body)}`,
          failing: failingChecks(body),
          byAnother,
          answered: true,
        });
      });
    });
    request.on("timeout", () => request.destroy(new Error(`no response within ${ATTEMPT_TIMEOUT_MS / 1000} s`)));
    request.on("error", (error) => fail(error.message, request.reusedSocket));
    request.end();
  });
}

/** The names in the certificate of a connection's other side, read once. */
const namesShown = new WeakMap<object, string[]>();

function showsName({ socket }: IncomingMessage, name: string): boolean {
  const known = namesShown.get(socket);
  const names = known ?? ((socket as TLSSocket).getPeerCertificate().subjectaltname ?? "").split(", ");
  if (known === undefined) namesShown.set(socket, names);
  return names.includes(`DNS:${name}`);
}

/** Kubernetes' verbose health pages list one check a line and mark failing ones with `[-]`. */
function firstFailure(body: string): string {
  const lines = body.split("\n");
  return (lines.find((line) => line.startsWith("[-]")) ?? lines[0] ?? "").slice(0, 200);
}

function failingChecks(body: string): string[] {
  return [...body.matchAll(/^\[-\](\S+)/gm)].map(([, name = ""]) => name);
}
