import type { CommandDefinition } from "../command.ts";
import { ALLOW_ADDRESS_OPTION } from "../manager-options/allow-address.ts";
import {
  ALSO_ON_NODES_OPTIONS,
  DATA_OPTION,
  LOG_LEVEL_OPTION,
  METAL_HOSTS_OPTION,
  PROCESS_OPTIONS,
  PROVIDER_OPTION,
} from "../options.ts";
import { LIMIT_OPTIONS } from "./up-limits.ts";
import { OIDC_OPTIONS } from "./up-oidc.ts";

/** Address on which `capstan up` serves the Kubernetes API unless --listen is given. */
export const DEFAULT_LISTEN = "127.0.0.1:6446";

/** Defines `capstan up`, which runs the embedded Kubernetes API and all controllers in one process. */
export const up: CommandDefinition = {
  name: "up",
  summary: "Run the management plane on this machine, until Ctrl-C",
  details:
    "One process holds the embedded Kubernetes API and all controllers; its data is one directory. Ctrl-C stops it together with the hosted control planes it runs; their data stays.",
  options: [
    DATA_OPTION,
    { flags: "--listen <address>", summary: "Address of the API", default: DEFAULT_LISTEN },
    {
      flags: "--node-address <address>",
      summary: "Address of this machine at which nodes reach hosted control planes (default: 127.0.0.1)",
    },
    {
      flags: "--dashboard <address>",
      summary: 'Address of the dashboard, or "off" (default: loopback, the port after the API\'s, or any free one)',
    },
    { flags: "--demo", summary: "Build a mixed cluster in memory, to try things out" },
    {
      flags: "--encryption-key-file <file>",
      summary: "Encrypt Secrets at rest with the keys in this file",
      completes: "files",
    },
    {
      flags: "--audit-log <file>",
      summary: "Write an audit log of every request to this file, without the contents of Secrets",
      completes: "files",
    },
    ...OIDC_OPTIONS,
    ...PROCESS_OPTIONS,
    ...LIMIT_OPTIONS,
    METAL_HOSTS_OPTION,
    PROVIDER_OPTION,
    ALLOW_ADDRESS_OPTION,
    ...ALSO_ON_NODES_OPTIONS,
    LOG_LEVEL_OPTION,
  ],
  examples: [
    { command: "capstan up --demo", does: "try it without any machines" },
    { command: "capstan up --node-address 192.168.10.5", does: "serve nodes of the local network" },
    {
      command: "capstan up --oidc-issuer-url https://login.example.com --oidc-client-id capstan",
      does: "let people sign in with tokens of their identity provider",
    },
  ],
  run: async (input) => (await import("./up.run.ts")).runUp(input),
};
