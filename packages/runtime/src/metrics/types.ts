import type { KindRef } from "../kind.ts";
import type { QueueObserver } from "../queue/work-queue.ts";

/** Outcome of a reconcile, named as in controller-runtime's `result` label; terminal errors are counted separately. */
export type ReconcileOutcome = "success" | "requeue_after" | "error" | "terminal";

/** Receives the measurements of one controller. */
export interface ControllerMetrics {
  reconciled(outcome: ReconcileOutcome, ms: number, key: string): void;
  active(workers: number): void;
  /** A mistake of the program, where Go would panic. */
  panicked(): void;
}

/** Receives the measurements of the runtime; `createMetrics` creates the real implementation. */
export interface RuntimeMetrics {
  controller(name: string, concurrency: number, subject: KindRef | undefined): ControllerMetrics;
  queue(name: string): QueueObserver;
  request(method: string, host: string, code: string): void;
}
