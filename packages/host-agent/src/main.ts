#!/usr/bin/env node
/** `capstan-host-agent`: runs on a bring-your-own host. One file, made by tools/agent/bundle.mjs. */
import { closeSync, constants, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { createLogger } from "@capstan/runtime";
import { runAgent } from "./agent/agent.ts";
import { loadCredentials, requestCertificate } from "./agent/identity.ts";
import { AGENT_VERSION } from "./protocol.ts";

const USAGE = `capstan-host-agent ${AGENT_VERSION}

Enrols this host once, then serves it:
  capstan-host-agent --enrol TOKEN     (the line that \`capstan host add NAME\` prints)
  capstan-host-agent                   (later starts: the identity is in the state directory)

  --state DIR   where identity and logs are kept (default: /var/lib/capstan-host)
`;

/** What an enrolment line carries, as base64url JSON. */
interface EnrolmentLine {
  server: string;
  ca: string;
  namespace: string;
  name: string;
  token: string;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      enrol: { type: "string" },
      state: { type: "string", default: "/var/lib/capstan-host" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const stateDir = values.state;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const unlock = lock(join(stateDir, "lock"));
  const deps = { clock: systemClock, random: systemRandom, stateDir };
  let identity = await loadCredentials(stateDir);
  if (identity === undefined) {
    if (values.enrol === undefined) {
      process.stderr.write(
        `error: this host is not enrolled yet\nnext: run the line that \`capstan host add NAME\` prints\n`,
      );
      return 1;
    }
    const line = JSON.parse(Buffer.from(values.enrol, "base64url").toString("utf8")) as EnrolmentLine;
    const enrolment = { server: line.server, caPem: line.ca, namespace: line.namespace, name: line.name };
    identity = { ...enrolment, ...(await requestCertificate(enrolment, { token: line.token }, deps)) };
    process.stdout.write(`enrolled as ${line.namespace}/${line.name} at ${line.server}\n`);
  }
  const log = await createLogger({ level: "info" });
  const logFile = openSync(
    join(stateDir, "bootstrap.log"),
    constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
    0o600,
  );
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort(new Error(signal)));
  const { finished } = runAgent(
    { ...deps, identity, log, output: (text) => writeSync(logFile, `${text}\n`) },
    stopping.signal,
  );
  await finished;
  closeSync(logFile);
  unlock();
  return 0;
}

/** One agent per host: the file names the process that holds it. */
function lock(path: string): () => void {
  try {
    const pid = Number(readFileSync(path, "utf8"));
    process.kill(pid, 0);
    if (pid !== process.pid) throw new Error(`another agent runs on this host (pid ${pid})`);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("another agent")) throw error;
  }
  const fd = openSync(path, "w", 0o600);
  writeSync(fd, String(process.pid));
  closeSync(fd);
  return () => unlinkSync(path);
}

// The clock's timers do not keep a process alive by themselves.
const keepAlive = setInterval(() => undefined, 1 << 30);
void main()
  .catch((error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  })
  .then((code) => {
    process.exitCode = code;
    clearInterval(keepAlive);
  });
