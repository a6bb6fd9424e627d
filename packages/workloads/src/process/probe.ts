import { readFileSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { TLSSocket } from "node:tls";
import type { Probe } from "../types.ts";

const ATTEMPT_TIMEOUT_MS = 3000;

/** Of programs that share a port, which one answers is the kernel's choice: so often it is asked again. */
const SHARED_PORT_TRIES = 16;

/** One attempt. Undefined when the program answered well, else what it said. Never throws. */
export async function attemptProbe(probe: Probe, expandPath: (text: string) => string): Promise<string | undefined> {
  for (let tries = 0; ; tries++) {
    const answer = await ask(probe, expandPath);
    if (!answer.byAnother) return answer.problem;
    if (tries >= SHARED_PORT_TRIES) return "does not answer yet; others on its port do";
  }
}

interface Answer {
  problem: string | undefined;
  /** Whether a program answered that shares the port and is not the one asked for. */
  byAnother: boolean;
}

function ask(probe: Probe, expandPath: (text: string) => string): Promise<Answer> {
  const url = new URL(probe.url);
  return new Promise((resolve) => {
    const fail = (problem: string): void => resolve({ problem, byAnother: false });
    const options: Record<string, unknown> = { method: "GET", timeout: ATTEMPT_TIMEOUT_MS, agent: false };
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
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        if (body.length < 2048) body += chunk;
      });
      response.on("error", (error) => fail(String(error)));
      response.on("end", () => {
        const status = response.statusCode ?? 0;
        const good = status >= 200 && status < 300;
        resolve({
          problem: good ? undefined : `${url.pathname} answered ${status}: ${firstFailure(body)}`,
          byAnother,
        });
      });
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${ATTEMPT_TIMEOUT_MS / 1000} s`)));
    request.on("error", (error) => fail(error.message));
    request.end();
  });
}

function showsName(response: IncomingMessage, name: string): boolean {
  const { subjectaltname } = (response.socket as TLSSocket).getPeerCertificate();
  return (subjectaltname ?? "").split(", ").includes(`DNS:${name}`);
}

/** Kubernetes' verbose health pages list one check a line and mark failing ones with `[-]`. */
function firstFailure(body: string): string {
  const lines = body.split("\n");
  return (lines.find((line) => line.startsWith("[-]")) ?? lines[0] ?? "").slice(0, 200);
}
