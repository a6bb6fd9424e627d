import { type Clock, systemClock } from "@capstan/apimachinery";
import { readInstance } from "@capstan/manager/instance";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { type CommandInput, UserError } from "./command.ts";
import { dataDirOf, textOption } from "./options.ts";

export interface ApiTarget {
  client: Client;
  /** Where commands go, in words. */
  description: string;
  server: string;
  /** Whom the server is trusted by; empty when the system's own authorities are. */
  caPem: string;
  /** Data directory of the instance on this machine, when that is what is meant. */
  dataDir?: string;
  close(): Promise<void>;
}

/** The clock of a command. */
export function clockOf(input: Pick<CommandInput, "io">): Clock {
  return input.io.clock ?? systemClock;
}

/** The API that is meant: --kubeconfig, else KUBECONFIG, else the standalone instance that runs here, else kubectl's own choice. */
export async function openTarget(input: CommandInput): Promise<ApiTarget> {
  const { io } = input;
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
      ...(path === undefined ? {} : { path }),
      ...(context === undefined ? {} : { context }),
    });
    const transport = httpTransport(config, { clock: systemClock });
    const client = new Client(transport, {
      fieldManager: "capstan-cli",
      clock: systemClock,
      onWarning: (text) => io.err(`warning: ${text}\n`),
    });
    // Also when KUBECONFIG names the instance's own file, which is what `up` tells people to do.
    const local = instance !== undefined && config.server === instance.server;
    return {
      client,
      description: local ? `the instance on this machine (${config.server})` : config.server,
      server: config.server,
      caPem: config.tls?.caPem ?? "",
      ...(local ? { dataDir } : {}),
      close: () => transport.close(),
    };
  } catch (error) {
    throw new UserError(error instanceof Error ? error.message : String(error), {
      hint: "start a management plane with: capstan up, or name one with --kubeconfig",
    });
  }
}
