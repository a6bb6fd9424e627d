import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Probe } from "../types.ts";

const ATTEMPT_TIMEOUT_MS = 3000;

/** One attempt. Undefined when the program answered well, else what it said. Never throws. */
export function attemptProbe(probe: Probe, expandPath: (text: string) => string): Promise<string | undefined> {
  const url = new URL(probe.url);
  return new Promise((resolve) => {
    const options: Record<string, unknown> = { method: "GET", timeout: ATTEMPT_TIMEOUT_MS, agent: false };
    if (url.protocol === "https:") {
      // Health of an address we chose ourselves: the certificate is not what is being tested.
      options["rejectUnauthorized"] = false;
      try {
        if (probe.certFile !== undefined) options["cert"] = readFileSync(expandPath(probe.certFile));
        if (probe.keyFile !== undefined) options["key"] = readFileSync(expandPath(probe.keyFile));
      } catch (error) {
        resolve(`cannot read the probe's certificate: ${String(error)}`);
        return;
      }
    }
    const send = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send(url, options, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        if (body.length < 2048) body += chunk;
      });
      response.on("error", (error) => resolve(String(error)));
      response.on("end", () => {
        const status = response.statusCode ?? 0;
        resolve(
          status >= 200 && status < 300 ? undefined : `${url.pathname} answered ${status}: ${firstFailure(body)}`,
        );
      });
    });
    request.on("timeout", () => request.destroy(new Error(`no answer within ${ATTEMPT_TIMEOUT_MS / 1000} s`)));
    request.on("error", (error) => resolve(error.message));
    request.end();
  });
}

/** Kubernetes' verbose health pages list one check a line and mark failing ones with `[-]`. */
function firstFailure(body: string): string {
  const lines = body.split("\n");
  return (lines.find((line) => line.startsWith("[-]")) ?? lines[0] ?? "").slice(0, 200);
}
