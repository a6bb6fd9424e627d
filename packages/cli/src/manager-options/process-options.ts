import { parseQuantity, quantityValue } from "@capstan/apimachinery";
import type { ManagerOptions } from "@capstan/manager";
import { type CommandInput, usageError } from "../command.ts";

const MIB = 1024 * 1024;

/** Parses --trust-tenants and the resource limits of control planes hosted as processes. */
export function processOptionsOf({
  options,
}: Pick<CommandInput, "options">): Pick<ManagerOptions, "trustTenants" | "controlPlaneLimits"> {
  const memoryBytes = quantity(options, "controlPlaneMemory", "--control-plane-memory", 256 * MIB, "2Gi");
  const cpus = quantity(options, "controlPlaneCpu", "--control-plane-cpu", 0.1, "1500m");
  const processes = quantity(options, "controlPlaneProcesses", "--control-plane-processes", 128, "4096");
  return {
    ...(options["trustTenants"] === true ? { trustTenants: true } : {}),
    controlPlaneLimits: {
      ...(memoryBytes === undefined ? {} : { memoryBytes: Math.floor(memoryBytes) }),
      cpus,
      ...(processes === undefined ? {} : { processes: Math.floor(processes) }),
    },
  };
}

/** A limit, refused when no control plane can run with it. */
function quantity(
  options: CommandInput["options"],
  name: string,
  flag: string,
  least: number,
  example: string,
): number | undefined {
  const text = options[name];
  if (typeof text !== "string") return undefined;
  let value: number;
  try {
    value = quantityValue(parseQuantity(text));
  } catch {
    throw usageError(`${flag} ${text} is not a quantity such as ${example}`);
  }
  if (value < least)
    throw usageError(`${flag} ${text} is too little for a control plane: give it more, such as ${example}`);
  return value;
}
