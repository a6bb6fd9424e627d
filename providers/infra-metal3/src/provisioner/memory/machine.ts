import type { Clock } from "@capstan/apimachinery";

/** An operating system that runs on a simulated machine. */
export interface RunningSystem {
  /** Called when the power changes. */
  powered(on: boolean): void;
  /** Called when the system is removed from the machine. */
  stop(): void;
}

/** A simulated machine: power changes that take time, virtual media, and the system that boots from them. */
export class MemoryMachine {
  readonly #clock: Clock;
  #on: boolean;
  #change: { to: boolean; atMs: number } | undefined;
  #system: RunningSystem | undefined;
  #cancelBoot: (() => void) | undefined;
  /** What is in the drive: names the content. */
  media: string | undefined;
  /** Starts what is in the drive. */
  boot: (() => RunningSystem) | undefined;
  bootMs = 0;

  constructor(clock: Clock, on: boolean) {
    this.#clock = clock;
    this.#on = on;
  }

  get on(): boolean {
    this.#settle();
    return this.#on;
  }

  /** Requests a power state and returns the time until it is reached. */
  setPower(on: boolean, afterMs: number): number {
    this.#settle();
    if (this.#on === on) {
      this.#change = undefined;
      return 0;
    }
    if (this.#change?.to !== on) this.#change = { to: on, atMs: this.#clock.now() + afterMs };
    this.#settle();
    return this.#change === undefined ? 0 : this.#change.atMs - this.#clock.now();
  }

  /** Resumes what was running when the previous process exited. */
  resume(): void {
    this.#system = this.boot?.();
  }

  /** Ejects the media; a system that ran from it stops. */
  eject(): void {
    this.media = undefined;
    this.boot = undefined;
    this.#cancelBoot?.();
    this.#cancelBoot = undefined;
    this.#system?.stop();
    this.#system = undefined;
  }

  #settle(): void {
    const change = this.#change;
    if (change === undefined || change.atMs > this.#clock.now()) return;
    this.#change = undefined;
    this.#on = change.to;
    this.#cancelBoot?.();
    this.#cancelBoot = undefined;
    if (!this.#on || this.#system !== undefined) this.#system?.powered(this.#on);
    else if (this.boot !== undefined) this.#cancelBoot = this.#clock.after(this.bootMs, () => this.#start());
  }

  #start(): void {
    this.#cancelBoot = undefined;
    this.#system = this.boot?.();
  }
}
