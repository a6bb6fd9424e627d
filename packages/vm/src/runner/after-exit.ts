import type { RestartPolicy } from "./vm-order.ts";

/** This many crashes within the window are a fault. */
const MAX_CRASHES = 3;
const WINDOW_MS = 600_000;
const FIRST_DELAY_MS = 1000;
const LAST_DELAY_MS = 60_000;

/** How QEMU exited. */
export type VmExit =
  /** The guest powered itself off. */
  | { type: "poweredOff" }
  /** The host has started again, and all machines with it. */
  | { type: "hostRestarted" }
  | { type: "crashed"; message: string };

/** What follows when QEMU has exited without a request. */
export type AfterExit =
  | { type: "restart"; delayMs: number }
  | { type: "terminated"; message: string }
  | { type: "fault"; message: string };

/** Earlier exits of a machine, in milliseconds. */
export interface ExitHistory {
  crashes: readonly number[];
  restarts: readonly number[];
}

/** Decides what follows an exit; `history` is that of the machine with this exit in it. */
export function afterExit(exit: VmExit, policy: RestartPolicy, history: ExitHistory, nowMs: number): AfterExit {
  const recent = (times: readonly number[]): number => times.filter((at) => nowMs - at < WINDOW_MS).length;
  if (exit.type === "crashed") {
    if (recent(history.crashes) >= MAX_CRASHES)
      return { type: "fault", message: `QEMU has exited ${MAX_CRASHES} times within ten minutes: ${exit.message}` };
    if (policy === "Never") return { type: "terminated", message: `${exit.message}; the restart policy is Never` };
  }
  if (exit.type === "poweredOff" && policy !== "Always")
    return { type: "terminated", message: `the guest powered off, and the restart policy is ${policy}` };
  if (exit.type === "hostRestarted" && policy === "Never")
    return { type: "terminated", message: "the host has restarted, and the restart policy is Never" };
  const delayMs = Math.min(FIRST_DELAY_MS * 2 ** recent(history.restarts), LAST_DELAY_MS);
  return { type: "restart", delayMs };
}

/** The times that still count. */
export function recentTimes(times: readonly number[], nowMs: number): number[] {
  return times.filter((at) => nowMs - at < WINDOW_MS);
}
