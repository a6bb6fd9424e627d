import { systemClock } from "@capstan/apimachinery";
import { readInstance } from "@capstan/manager";
import { Client, httpTransport, loadKubeconfig } from "@capstan/runtime";
import { type CommandInput, UserError } from "./command.ts";
import { defaultDataDir } from "./data-dir.ts";

/** Options of every command that talks to an API. */
export const API_OPTIONS = [
  { flags: "--kubeconfig <file>", summary: "Kubeconfig of the management cluster" },
  { flags: "--context <name>", summary: "Context of the kubeconfig" },
  { flags: "--data <dir>", summary: "Data directory of the standalone instance" },
];

export interface ApiTarget {
  client: Client;
  /** Where commands go, in words. */
  description: string;
  server: string;
  /** Whom the server is trusted by; empty when the system's own authorities are. */
  caPem: string;
  close(): Promise<void>;
}

/** The API that is meant: --kubeconfig, else KUBECONFIG, else the standalone instance that runs here, else kubectl's own choice. */
export async function openTarget({ options, io }: CommandInput): Promise<ApiTarget> {
  const explicit = options["kubeconfig"];
  const context = options["context"];
  const instance = await readInstance(String(options["data"] ?? defaultDataDir(io.env)));
  const fromEnvironment = io.env["KUBECONFIG"] !== undefined && io.env["KUBECONFIG"] !== "";
  const path = typeof explicit === "string" ? explicit : fromEnvironment ? undefined : instance?.kubeconfig;
  try {
    const config = await loadKubeconfig({
      clock: systemClock,
      environment: io.env,
      ...(path === undefined ? {} : { path }),
      ...(typeof context === "string" ? { context } : {}),
    });
    const transport = httpTransport(config, { clock: systemClock });
    const client = new Client(transport, { fieldManager: "capstan-cli", clock: systemClock });
    const local = path !== undefined && path === instance?.kubeconfig;
    return {
      client,
      description: local ? `the instance on this machine (${config.server})` : config.server,
      server: config.server,
      caPem: config.tls?.caPem ?? "",
      close: () => transport.close(),
    };
  } catch (error) {
    throw new UserError(error instanceof Error ? error.message : String(error), {
      hint: "start a management plane with: capstan up, or name one with --kubeconfig",
    });
  }
}
