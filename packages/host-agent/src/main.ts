#!/usr/bin/env node
/** `capstan-host-agent`: runs on a bring-your-own host. One file, made by tools/agent. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock, systemRandom } from "@capstan/apimachinery";
import { createLogger } from "@capstan/runtime";
import { runAgent } from "./agent/agent.ts";
import { identify } from "./agent/enrol.ts";
import { lockHost } from "./agent/lock.ts";
import { hasSystemd, Programs } from "./agent/programs.ts";
import { installService } from "./agent/service.ts";
import { AGENT_VERSION } from "./protocol.ts";

const USAGE = `capstan-host-agent ${AGENT_VERSION}

Enrols this host once, then serves it:
  capstan-host-agent --enrol TEXT                  (from the command that \`capstan host add NAME\` prints)
  capstan-host-agent --bootstrap-kubeconfig FILE   (from a BootstrapKubeconfig; with --namespace and --name)
  capstan-host-agent --kubeconfig FILE             (as agents of 2022: of a user who may add hosts; with --namespace and --name)
  capstan-host-agent                               (later starts: the identity is in the state directory)

  --enrol -          read the text from standard input
  --service          make the agent a service of systemd, start it and return
  --state DIR        where identity and logs are kept (default: /var/lib/capstan-host)
  --namespace NAME   namespace of the host with --bootstrap-kubeconfig or --kubeconfig (default: default)
  --name NAME        name of the host with --bootstrap-kubeconfig or --kubeconfig (default: the host name)
  --supervise        keep containerd and kubelet running without systemd (default: where there is no systemd)
  --version          print the version
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      enrol: { type: "string" },
      "bootstrap-kubeconfig": { type: "string" },
      kubeconfig: { type: "string" },
      namespace: { type: "string" },
      name: { type: "string" },
      state: { type: "string", default: "/var/lib/capstan-host" },
      service: { type: "boolean", default: false },
      supervise: { type: "boolean", default: !hasSystemd() },
      version: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help || values.version) {
    process.stdout.write(values.help ? USAGE : `${AGENT_VERSION}\n`);
    return 0;
  }
  const stateDir = values.state;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const unlock = lockHost(join(stateDir, "lock"));
  try {
    const deps = { clock: systemClock, random: systemRandom, stateDir };
    const bootstrapKubeconfig = values["bootstrap-kubeconfig"];
    const how = {
      ...(values.enrol === undefined
        ? {}
        : { line: values.enrol === "-" ? readFileSync(0, "utf8").trim() : values.enrol }),
      bootstrapKubeconfig,
      kubeconfig: values.kubeconfig,
      namespace: values.namespace,
      name: values.name,
    };
    const identity = await identify(how, deps, (text) => process.stdout.write(text));
    if (values.service) {
      // The service takes the lock.
      unlock();
      await installService(stateDir, systemClock);
      process.stdout.write("the agent is running as service capstan-host-agent\n");
      return 0;
    }
    const log = await createLogger({ level: "info" });
    const stopping = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort(new Error(signal)));
    const programs = values.supervise ? new Programs({ ...deps, log }) : undefined;
    const options = { ...deps, identity, log, ...(programs === undefined ? {} : { programs }) };
    await runAgent(options, stopping.signal).finished;
    programs?.close();
    return 0;
  } finally {
    unlock();
  }
}

// The clock's timers do not keep a process alive by themselves; a port that waits does.
const keepAlive = new MessageChannel().port1;
keepAlive.ref();
void main()
  .catch((error: unknown) => {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  })
  .then((code) => {
    process.exitCode = code;
    keepAlive.close();
  });
