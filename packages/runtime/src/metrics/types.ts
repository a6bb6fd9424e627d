import type { KindRef } from "../kind.ts";
import type { QueueObserver } from "../queue/work-queue.ts";

/** How a reconcile ended, in the words of controller-runtime's `result` label; terminal errors are counted apart. */
export type ReconcileOutcome = "success" | "requeue_after" | "error" | "terminal";

/** What one controller counts. */
export interface ControllerMetrics {
  reconciled(outcome: ReconcileOutcome, ms: number, key: string): void;
  active(workers: number): void;
  /** A mistake of the program, where Go would panic. */
  panicked(): void;
}

/** Where the parts of the runtime report figures; the real one is made by `createMetrics`. */
export interface RuntimeMetrics {
  controller(name: string, concurrency: number, subject: KindRef | undefined): ControllerMetrics;
  queue(name: string): QueueObserver;
  request(method: string, host: string, code: string): void;
}
