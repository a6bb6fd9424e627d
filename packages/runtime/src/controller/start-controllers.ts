import type { Controller, RunningController } from "./controller.ts";
import { FairScheduler } from "./fair-scheduler.ts";
import type { ControllerDeps } from "./types.ts";

/** Controllers that were started together. */
export interface RunningControllers {
  readonly controllers: readonly RunningController[];
  /** Resolves when all have stopped. */
  readonly finished: Promise<void>;
  /** Whether none has anything to do right now. */
  idle(): boolean;
}

/** Starts the cache and all controllers on it; aborting the signal stops them once the running reconciles have finished. */
export function startControllers(
  controllers: readonly Controller[],
  deps: ControllerDeps,
  signal: AbortSignal,
): RunningControllers {
  const scheduler = deps.scheduler ?? new FairScheduler(deps.clock);
  deps.cache.start();
  const running = controllers.map((controller) => controller.start({ ...deps, scheduler }, signal));
  return {
    controllers: running,
    finished: Promise.all(running.map(({ finished }) => finished)).then(() => undefined),
    idle: () => running.every(({ idle }) => idle),
  };
}
