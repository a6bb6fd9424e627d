import type { Clock } from "@capstan/apimachinery";
import type { GuestAgent } from "../sockets/guest-agent.ts";
import type { VmControl } from "../sockets/vm-control.ts";

/** How long the agent may take to accept; a guest without one never answers. */
const AGENT_MS = 5000;
/** How long QEMU may take to exit after `quit`. */
const QUIT_MS = 10_000;

/** What a shutdown is carried out with. */
export interface ShutdownOptions {
  clock: Clock;
  agent: Pick<GuestAgent, "shutdown">;
  control: Pick<VmControl, "powerDown" | "quit">;
  kill: () => void;
  /** Reports each step, for people. */
  onStep: (message: string) => void;
}

/**
 * Shuts a guest down: the guest agent is requested to, half of the time later or without an agent the power button is pressed, and when the
 * time is over QEMU quits, which is a power cut. Whoever calls it waits for the exit of QEMU, and then calls what is returned.
 */
export function shutDown(options: ShutdownOptions, leftMs: number): () => void {
  const { clock, agent, control, kill, onStep } = options;
  const timers = new Set<() => void>();
  let over = false;
  const after = (ms: number, step: () => void): void => {
    if (over) return;
    const cancel = clock.after(ms, () => {
      timers.delete(cancel);
      step();
    });
    timers.add(cancel);
  };
  const press = (): void => {
    onStep("the power button of the machine was pressed");
    // Its failure leaves the last resort.
    control.powerDown().catch(() => undefined);
  };
  const cut = (): void => {
    onStep("the guest did not shut down in time, and was powered off");
    control.quit().catch(() => undefined);
    after(QUIT_MS, kill);
  };
  if (leftMs <= 0) cut();
  else {
    after(leftMs, cut);
    onStep("the guest agent was requested to shut the guest down");
    agent.shutdown("powerdown", Math.min(AGENT_MS, leftMs / 2)).then(
      () => after(leftMs / 2, press),
      () => {
        if (!over) press();
      },
    );
  }
  return () => {
    over = true;
    for (const cancel of timers) cancel();
  };
}
