import { type Clock, systemClock } from "@capstan/apimachinery";
import { readInstance } from "@capstan/manager/instance";
import { Client, httpTransport, loadKubeconfig, nodeAgents } from "@capstan/runtime";
import { type CommandInput, UserError, usageError } from "../command.ts";
import { durationMs } from "../duration.ts";
import { dataDirOf, textOption } from "../options.ts";
import { verboseTransport } from "./verbose-transport.ts";

/** A command sends its requests one after another: more connections cost more handshakes than they save. */
const CONNECTIONS = 2;
/** From this level on `-v` logs every request, as kubectl does. */
const REQUESTS_LEVEL = 6;

/** The management API that a command talks to, with an open client for it. */
export interface ApiTarget {
  client: Client;
  /** The API as messages name it. */
  description: string;
  server: string;
  /** The CA bundle that verifies the server; empty for the system's own. */
  caPem: string;
  /** The namespace that the kubeconfig's context names. */
  namespace?: string;
  /** Data directory of the instance on this machine, when the API is that instance's. */
  dataDir?: string;
  close(): Promise<void>;
}

/** Returns the clock that a command measures time with; tests inject their own. */
export function clockOf(input: Pick<CommandInput, "io">): Clock {
  return input.io.clock ?? systemClock;
}

/** Connects to the management API: --kubeconfig, else KUBECONFIG, else the standalone instance on this machine, else kubectl's default. */
export async function openTarget(input: CommandInput): Promise<ApiTarget> {
  const { io } = input;
  const timeout = textOption(input, "requestTimeout");
  const timeoutMs = timeout === undefined ? undefined : durationMs("--request-timeout", timeout);
  const level = verbosity(input);
  if (io.target !== undefined) return io.target;
  const explicit = textOption(input, "kubeconfig");
  const context = textOption(input, "context");
  const dataDir = dataDirOf(input);
  const instance = await readInstance(dataDir);
  const fromEnvironment = io.env["KUBECONFIG"] !== undefined && io.env["KUBECONFIG"] !== "";
  const path = explicit ?? (fromEnvironment ? undefined : instance?.kubeconfig);
  try {
    const config = await loadKubeconfig({
      clock: systemClock,
      environment: io.env,
      path,
      context,
    });
    const http = httpTransport(
      {
        ...config,
        connections: CONNECTIONS,
        ...(timeoutMs === undefined ? {} : { requestTimeoutMs: timeoutMs }),
      },
      { clock: systemClock, agents: nodeAgents },
    );
    const transport = level < REQUESTS_LEVEL ? http : verboseTransport(http, config.server, systemClock, io.err);
    const client = new Client(transport, {
      fieldManager: "capstan-cli",
      clock: systemClock,
      onWarning: (text) => io.err(`warning: ${text}\n`),
    });
    // Also when KUBECONFIG names the instance's own file, which is what `up` tells people to do.
    const local = instance !== undefined && config.server === instance.server;
    const description = local ? `the instance on this machine (${config.server})` : config.server;
    if (level > 0) io.err(`API: ${description}\n`);
    return {
      client,
      description,
      server: config.server,
      caPem: config.tls?.caPem ?? "",
      namespace: config.namespace,
      ...(local ? { dataDir } : {}),
      close: () => transport.close(),
    };
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(error instanceof Error ? error.message : String(error), {
      hint: "start a management plane with: capstan up, or name one with --kubeconfig",
    });
  }
}

function verbosity(input: CommandInput): number {
  const text = textOption(input, "v") ?? "0";
  if (!/^\d{1,2}$/.test(text)) throw usageError(`-v ${text} is not a level from 0 to 10`);
  return Number(text);
}
