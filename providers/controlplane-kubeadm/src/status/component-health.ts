import { findCondition } from "@capstan/apimachinery";
import { type ConditionInput, conditionsOf, type Machine } from "@capstan/capi";

const MAX_NAMES = 3;

/** Which conditions of Machines make up one of the control plane. */
export interface HealthInput {
  readonly type: "EtcdClusterHealthy" | "ControlPlaneComponentsHealthy";
  readonly machines: readonly Machine[];
  /** Types of the Machines' conditions. */
  readonly sources: readonly string[];
  /** Problems that belong to no Machine. */
  readonly problems?: readonly string[];
  /** What the sources are about, for the message without Machines. */
  readonly subject: "etcd member" | "control plane";
}

/** Aggregates the health of components over Machines, as upstream does: only issues and unknown states are listed. */
export function componentHealth({ type, machines, sources, problems = [], subject }: HealthInput): ConditionInput {
  const byMessage = new Map<string, string[]>();
  const seen = { True: false, False: problems.length > 0, Unknown: false };
  for (const machine of machines) {
    const { statuses, message } = healthOf(machine, sources);
    for (const status of statuses) seen[status] = true;
    if (message === undefined) continue;
    byMessage.set(message, [...(byMessage.get(message) ?? []), machine.metadata.name ?? ""]);
  }
  const lines = [...byMessage]
    .map(([message, names]) => ({ message, names: names.sort() }))
    .sort((a, b) => b.names.length - a.names.length || (a.names.join(",") < b.names.join(",") ? -1 : 1))
    .map(({ message, names }) => `* ${namesText(names)}:\n${message}`);
  const message = [...lines, ...problems.map((problem) => `* ${problem}`)].join("\n");
  if (seen.False) return { type, status: "False", reason: "NotHealthy", message };
  if (seen.Unknown) return { type, status: "Unknown", reason: "HealthUnknown", message };
  if (seen.True) return { type, status: "True", reason: "Healthy", message: "" };
  return { type, status: "Unknown", reason: "HealthUnknown", message: `No Machines reporting ${subject} status` };
}

interface MachineHealth {
  readonly statuses: ReadonlySet<"True" | "False" | "Unknown">;
  readonly message: string | undefined;
}

function healthOf(machine: Machine, sources: readonly string[]): MachineHealth {
  const found = sources.flatMap((source) => findCondition(conditionsOf(machine), source) ?? []);
  const statuses = new Set<"True" | "False" | "Unknown">();
  const lines: string[] = [];
  for (const { type, status, message } of found) {
    // Nothing is expected of a Machine whose infrastructure is still being provisioned.
    const early = status === "Unknown" && (machine.spec.providerID ?? "") === "";
    statuses.add(early ? "True" : (status as "True" | "False" | "Unknown"));
    if (status !== "True" && !early) lines.push(`  * ${type}: ${message === "" ? `condition is ${status}` : message}`);
  }
  if (lines.length === 0) return { statuses, message: undefined };
  const messages = new Set(found.map(({ message }) => message));
  if (found.length > 1 && messages.size === 1)
    return { statuses, message: `  * Control plane components: ${found[0]?.message}` };
  return { statuses, message: lines.join("\n") };
}

/** Names a few Machines, as upstream does: `Machines a, b, c, ... (2 more)`. */
export function namesText(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? `, ... (${names.length - MAX_NAMES} more)` : "";
  return `${names.length === 1 ? "Machine" : "Machines"} ${names.slice(0, MAX_NAMES).join(", ")}${more}`;
}
