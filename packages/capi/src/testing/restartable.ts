import type { Random, Transport, VirtualClock } from "@capstan/apimachinery";
import {
  Cache,
  Client,
  type Controller,
  type Recorder,
  type RunningControllers,
  silentLogger,
  silentRecorder,
  startControllers,
} from "@capstan/runtime";

/** Controllers that can be killed in the middle of what they do and started again without memory, in virtual time. */
export class RestartableControllers {
  readonly #clock: VirtualClock;
  readonly #random: Random;
  #manager: { stop: AbortController; running: RunningControllers; cache: Cache } | undefined;

  constructor(clock: VirtualClock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Kills the controllers that run and starts others; `prepare` adds indexes to the empty cache. */
  async start(
    transport: Transport,
    fieldManager: string,
    prepare: (cache: Cache) => readonly Controller[],
    recorder: Recorder = silentRecorder,
  ): Promise<void> {
    await this.stop();
    const [clock, random] = [this.#clock, this.#random];
    const cache = new Cache(new Client(transport, { fieldManager, clock }), { clock, random });
    const controllers = [...prepare(cache)];
    const stop = new AbortController();
    const running = startControllers(controllers, { cache, clock, random, log: silentLogger, recorder }, stop.signal);
    this.#manager = { stop, running, cache };
  }

  /** Kills the controllers and waits until nothing of them is left. */
  async stop(): Promise<void> {
    const manager = this.#manager;
    if (manager === undefined) return;
    this.#manager = undefined;
    manager.stop.abort(new Error("killed"));
    let over = false;
    const ended = Promise.all([manager.running.finished, manager.cache.stop()]).then(() => {
      over = true;
    });
    // Discovery that is being repeated notices the end only after its pause.
    while (!over) await this.#clock.advance(50);
    await ended;
  }

  /** Kills the controllers without waiting, as from within one of their own requests. */
  kill(): void {
    this.#manager?.stop.abort(new Error("killed"));
  }

  get isKilled(): boolean {
    return this.#manager?.stop.signal.aborted === true;
  }
}
