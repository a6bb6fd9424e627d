import type { ConnectionLimits } from "@capstan/apimachinery";
import { type CommandInput, type OptionDefinition, UserError } from "../command.ts";

/** Flags that limit the connections to the API and the dashboard. */
export const LIMIT_OPTIONS: OptionDefinition[] = [
  {
    flags: "--max-connections <count>",
    summary: "Maximum number of concurrent connections to the API, and to the dashboard (default: 4096)",
  },
  {
    flags: "--max-unauthenticated-connections <count>",
    summary: "Maximum number of connections from one address that have not authenticated yet (default: 512)",
  },
];

/** Parses the connection limits from the flags. Absent ones do not hide the defaults that they are spread over. */
export function limitsOf({ options }: Pick<CommandInput, "options">): Partial<ConnectionLimits> {
  const maxConnections = countOf("--max-connections", options["maxConnections"]);
  const perAddress = countOf("--max-unauthenticated-connections", options["maxUnauthenticatedConnections"]);
  return {
    ...(maxConnections === undefined ? {} : { maxConnections }),
    ...(perAddress === undefined ? {} : { maxUnauthenticatedPerAddress: perAddress }),
  };
}

function countOf(option: string, value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const count = Number(value);
  if (!/^\d{1,7}$/.test(value) || count < 1)
    throw new UserError(`${option} ${value} is not a number of connections: use at least 1`, { exitCode: 2 });
  return count;
}
