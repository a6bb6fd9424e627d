import type { CommandDefinition } from "../command.ts";
import { API_OPTIONS, NAMESPACE_OPTION } from "../options.ts";

const HOST = { name: "host", summary: "Name of a host of the demo: own-1, own-2, metal-1, …", required: false };
const OPTIONS = [NAMESPACE_OPTION, ...API_OPTIONS];

/** Defines `capstan demo break`, which makes a simulated host fail. */
export const demoBreak: CommandDefinition = {
  name: "demo break",
  summary: "Break a host in memory, to see what happens",
  details:
    "One of your own hosts stops reporting, and so does its Node (annotation memory.capstan.dev/agent: dead). The management controller of a bare-metal host stops answering (annotation memory.capstan.dev/faults: unreachable). Real hosts are refused.",
  arguments: [HOST],
  options: OPTIONS,
  examples: [{ command: "capstan demo break own-1 && capstan why demo", does: "break a host and see why" }],
  run: async (input) => (await import("./demo.run.ts")).runBreak(input, true),
};

/** Defines `capstan demo repair`, which clears the fault that `capstan demo break` injected. */
export const demoRepair: CommandDefinition = {
  name: "demo repair",
  summary: "Repair a broken host in memory",
  arguments: [HOST],
  options: OPTIONS,
  run: async (input) => (await import("./demo.run.ts")).runBreak(input, false),
};
