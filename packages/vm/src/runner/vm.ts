import { rm } from "node:fs/promises";
import { removeReclaimed } from "@capstan/os";
import { vmPaths } from "../arguments/paths.ts";
import { limitOwnFile, readOwnTail } from "../host/own-file.ts";
import type { VmSeed } from "../seed/seed.ts";
import type { GuestCommandResult } from "../sockets/guest-agent.ts";
import type { QmpState } from "../sockets/qmp.ts";
import type { QmpEvent } from "../sockets/qmp-events.ts";
import { afterExit, recentTimes, type VmExit } from "./after-exit.ts";
import { driftOf } from "./drift.ts";
import { filesOf } from "./prepare.ts";
import { shutDown } from "./shutdown.ts";
import { VmConnection } from "./vm-connection.ts";
import type { VmDeps } from "./vm-deps.ts";
import type { VmOrder } from "./vm-order.ts";
import type { StartedQemu } from "./vm-processes.ts";
import type { VmRecord } from "./vm-record.ts";
import { VmStarter } from "./vm-starter.ts";
import { type VmPhase, VmProblem, type VmReason, type VmStatus } from "./vm-status.ts";

const MAX_CONSOLE_BYTES = 16 * 2 ** 20;
const EXIT_CHECK_MS = 50;
const EXIT_CHECKS = 200;

/** One machine: QEMU, what it needs, and what becomes of it. Its steps wait for each other. */
export class Vm {
  readonly #deps: VmDeps;
  readonly #folder: string;
  readonly #changed: () => void;
  readonly #record: VmRecord;
  readonly #starter: VmStarter;
  #phase: VmPhase = "preparing";
  #reason: VmReason = "Starting";
  #message = "the machine has not been started";
  #drift: string[] = [];
  #agentConnected = false;
  #diskBytes = new Map<string, number>();
  #connection: VmConnection | undefined;
  #poweredOff = false;
  #adopted = false;
  #endShutdown: (() => void) | undefined;
  #cancelRestart: (() => void) | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(deps: VmDeps, folder: string, record: VmRecord, changed: () => void) {
    this.#deps = deps;
    this.#folder = folder;
    this.#record = record;
    this.#changed = changed;
    this.#starter = new VmStarter(deps, folder, record);
  }

  get order(): VmOrder {
    return this.#record.order;
  }

  /** The image that its disk is based on. */
  get image(): string | undefined {
    return this.#record.image?.file;
  }

  get status(): VmStatus {
    const { process, startedAtMs, restarts, accelerator, acceleratorMessage, order } = this.#record;
    const state = this.#connection?.state;
    return {
      phase: this.#phase,
      reason: this.#reason,
      message: this.#message,
      pid: process?.pid,
      startedAtMs,
      qemuVersion: state?.connected === true ? state.qemuVersion : undefined,
      accelerator,
      acceleratorMessage,
      restarts,
      agentConnected: this.#agentConnected,
      drift: this.#drift,
      disks: order.disks.map(({ name, bytes }, index) => ({
        name,
        bytes: this.#diskBytes.get(`disk${index}`) ?? bytes,
      })),
    };
  }

  /** Finds the QEMU that an earlier manager started; without one, its exit has consequences as if it had been seen. */
  async resume(): Promise<void> {
    await this.#inTurn(async () => {
      const { ended, args, process, order, bootId } = this.#record;
      if (ended !== undefined) return this.#set(ended.phase, ended.reason, ended.message);
      if (args === undefined) return;
      const { processes } = this.#deps;
      const known = process !== undefined && processes.isRunning(process) ? process : undefined;
      // A manager that was killed may have started QEMU without writing its pid down.
      const found =
        known ?? (process === undefined ? await processes.find(order.uuid, await this.#starter.user()) : undefined);
      if (found !== undefined) {
        this.#record.process = found;
        await this.#starter.write();
        this.#attach();
        return;
      }
      if (process === undefined && this.#record.stop === undefined) return;
      const other = bootId !== undefined && this.#deps.bootId !== undefined && bootId !== this.#deps.bootId;
      await this.#handleExit(
        other ? { type: "hostRestarted" } : { type: "crashed", message: "QEMU exited while no manager was running" },
      );
    });
  }

  /** Prepares and starts the machine unless it runs; what differs from a running one is drift. */
  async ensure(order: VmOrder, seed: () => Promise<VmSeed | undefined>): Promise<VmStatus> {
    await this.#inTurn(async () => {
      const record = this.#record;
      if (record.ended !== undefined || record.stop !== undefined) return;
      record.order = order;
      await limitOwnFile(vmPaths(filesOf(this.#folder).run).consoleLog, MAX_CONSOLE_BYTES);
      try {
        if (record.prepared !== true) await this.#starter.prepare(seed);
        if (record.process !== undefined) await this.#compare();
        else if (this.#cancelRestart === undefined) this.#attach(await this.#starter.start());
      } catch (error) {
        this.#report(error);
      }
    });
    return this.status;
  }

  /** Begins to shut the guest down; once QEMU has exited the machine is `terminated`. */
  async powerOff(graceMs: number): Promise<VmStatus> {
    await this.#inTurn(async () => {
      const record = this.#record;
      if (record.ended !== undefined || record.stop !== undefined) return;
      record.stop = { atMs: this.#deps.clock.now(), graceMs };
      this.#cancelRestart?.();
      this.#cancelRestart = undefined;
      if (record.process === undefined) await this.#end("terminated", "Terminated", "the machine is powered off");
      else {
        // On a full disk the guest shuts down nevertheless, which may free space.
        await this.#starter.write().catch(() => undefined);
        this.#converse();
      }
    });
    return this.status;
  }

  /** Powers the machine off at once and deletes it with its disks. */
  async destroy(): Promise<void> {
    this.close();
    await this.#inTurn(async () => {
      const { process, order, args } = this.#record;
      const { processes, users } = this.#deps;
      const found =
        process ?? (args === undefined ? undefined : await processes.find(order.uuid, await this.#starter.user()));
      if (found !== undefined) {
        processes.kill(found);
        await this.#waitForExit(() => processes.isRunning(found));
      }
      await removeReclaimed(this.#folder);
      await users?.release(order.id);
    });
  }

  /** The end of what the guest has written to its console. */
  async console(bytes?: number): Promise<string> {
    return await readOwnTail(vmPaths(filesOf(this.#folder).run).consoleLog, bytes);
  }

  /** Runs a program in the guest through its agent. */
  async exec(
    command: { path: string; args?: string[]; input?: string },
    timeoutMs?: number,
  ): Promise<GuestCommandResult> {
    if (this.#connection === undefined) throw new Error(`machine ${this.order.id} is not running`);
    return await this.#connection.agent.exec(command, timeoutMs);
  }

  /** Presses the reset button. */
  async reset(): Promise<void> {
    if (this.#connection === undefined) throw new Error(`machine ${this.order.id} is not running`);
    await this.#connection.control.reset();
    await this.#connection.control.resume();
  }

  /** Lets go of the machine, which keeps running. */
  close(): void {
    this.#closed = true;
    this.#cancelRestart?.();
    this.#detach();
  }

  async #compare(): Promise<void> {
    const { args = [] } = this.#record;
    this.#drift = driftOf(args, (await this.#starter.command()).args);
    await this.#growDisks();
    this.#changed();
  }

  /** Disks that are ordered larger grow while the machine runs. */
  async #growDisks(): Promise<void> {
    const { control, state } = this.#connection ?? {};
    if (control === undefined || state?.connected !== true) return;
    this.#diskBytes = await control.diskBytes();
    for (const [index, { name, bytes }] of this.order.disks.entries()) {
      const now = this.#diskBytes.get(`disk${index}`) ?? bytes;
      if (bytes < now)
        throw new VmProblem("DiskRefused", `disk ${name} has ${now} bytes and cannot shrink to ${bytes}`);
      if (bytes > now) await control.growDisk(`disk${index}`, bytes);
      this.#diskBytes.set(`disk${index}`, bytes);
    }
  }

  #attach(started?: StartedQemu): void {
    const { process } = this.#record;
    if (this.#closed || process === undefined) return;
    this.#poweredOff = false;
    this.#adopted = started === undefined;
    this.#drift = [];
    const connection: VmConnection = new VmConnection(filesOf(this.#folder).run, this.#deps, {
      event: (event) => this.#onEvent(event),
      state: (state) => this.#onState(state),
    });
    this.#connection = connection;
    this.#set("starting", "Starting", "QEMU has started and does not answer yet");
    if (this.#record.stop !== undefined) this.#converse();
    void started?.exited.then((code) => this.#exited(connection, code));
  }

  #detach(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#agentConnected = false;
    this.#endShutdown?.();
    this.#endShutdown = undefined;
  }

  #onState(state: QmpState): void {
    const connection = this.#connection;
    const { process } = this.#record;
    if (connection === undefined || process === undefined || this.#closed) return;
    if (state.connected)
      void this.#inTurn(() => this.#observe(connection)).catch((error: unknown) => this.#report(error));
    // The exit of a process that was started here is reported with its code.
    else if (this.#adopted && !this.#deps.processes.isRunning(process)) this.#exited(connection, undefined);
    else if (this.#phase !== "stopping" && state.problem?.problem === "busy")
      this.#set("starting", "QMPNotAvailable", state.problem.message);
  }

  /** Asks for what no event has reported, because there was no connection. */
  async #observe(connection: VmConnection): Promise<void> {
    if (connection !== this.#connection) return;
    const { running, status } = await connection.control.status();
    this.#agentConnected = await connection.control.agentListening();
    if (status === "guest-panicked") return await this.#panicked(connection);
    if (this.#phase === "stopping") return this.#changed();
    if (running) this.#set("running", "Running", "the machine is running");
    else if (status === "io-error") this.#set("running", "DiskError", "the machine is paused because a disk failed");
    else this.#set("running", "VMPaused", `the machine is paused (${status})`);
    await this.#growDisks();
  }

  #onEvent(event: QmpEvent): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    switch (event.type) {
      case "shutdown":
        this.#poweredOff = event.reason === "guest-shutdown";
        break;
      case "agent":
        this.#agentConnected = event.listening;
        this.#changed();
        break;
      case "guestPanicked":
        this.#inBackground(connection, () => this.#panicked(connection));
        break;
      case "diskError":
        this.#set(
          "running",
          event.noSpace ? "NoSpace" : "DiskError",
          event.noSpace
            ? "the host has no space left for a disk of the machine, which is paused until there is some"
            : `disk ${event.disk} failed to ${event.operation}: ${event.reason}`,
        );
        break;
      case "resumed":
        if (this.#phase === "running") this.#set("running", "Running", "the machine is running");
        break;
      default:
    }
  }

  /** A first panic may be an accident; a second one is a fault. */
  async #panicked(connection: VmConnection): Promise<void> {
    if (connection !== this.#connection || this.#phase === "stopping" || this.#phase === "failed") return;
    const tail = (await this.console(4096)).trim().split("\n").slice(-3).join("; ");
    const message = `the kernel of the guest panicked: ${tail}`;
    if (this.#record.panicked === true) {
      this.#record.ended = { phase: "failed", reason: "GuestPanicked", message };
      await this.#starter.write();
      this.#set("failed", "GuestPanicked", message);
      return;
    }
    this.#record.panicked = true;
    await this.#starter.write();
    this.#set("restarting", "GuestPanicked", `${message}; it was reset`);
    await connection.control.reset();
    await connection.control.resume();
    this.#set("running", "Running", "the machine is running again after a kernel panic");
  }

  #converse(): void {
    const { stop, process } = this.#record;
    const connection = this.#connection;
    if (stop === undefined || process === undefined || connection === undefined || this.#endShutdown !== undefined)
      return;
    const { clock, processes } = this.#deps;
    this.#endShutdown = shutDown(
      {
        clock,
        agent: connection.agent,
        control: connection.control,
        kill: () => processes.kill(process),
        onStep: (message) => this.#set("stopping", "ShuttingDown", message),
      },
      stop.atMs + stop.graceMs - clock.now(),
    );
  }

  #exited(connection: VmConnection, code: number | undefined): void {
    // Commands that wait for an answer fail now, rather than in ten seconds.
    connection.close();
    void this.#inTurn(async () => {
      if (connection !== this.#connection || this.#closed) return;
      // QEMU ends with 0 when the guest has powered off, or when it was told to quit.
      const clean = this.#poweredOff || code === 0;
      await this.#handleExit(clean ? { type: "poweredOff" } : { type: "crashed", message: await this.#lastLine(code) });
    }).catch((error: unknown) => this.#report(error));
  }

  async #lastLine(code: number | undefined): Promise<string> {
    const lines = (await readOwnTail(filesOf(this.#folder).log, 4096)).trim().split("\n");
    const last = lines.at(-1)?.slice(0, 300) ?? "";
    return `QEMU exited${code === undefined ? "" : ` with code ${code}`}${last === "" ? "" : `: ${last}`}`;
  }

  async #handleExit(exit: VmExit): Promise<void> {
    this.#detach();
    const record = this.#record;
    record.process = undefined;
    record.args = undefined;
    const nowMs = this.#deps.clock.now();
    if (record.stop !== undefined) return await this.#end("terminated", "Terminated", "the machine is powered off");
    // It stays what it was when a panic had already ended it.
    if (record.ended !== undefined) return await this.#starter.write();
    record.crashes = recentTimes(record.crashes, nowMs);
    record.restartTimes = recentTimes(record.restartTimes, nowMs);
    if (exit.type === "crashed") record.crashes.push(nowMs);
    const next = afterExit(
      exit,
      record.order.restartPolicy,
      { crashes: record.crashes, restarts: record.restartTimes },
      nowMs,
    );
    if (next.type === "fault") return await this.#end("failed", "CrashLoop", next.message);
    if (next.type === "terminated") return await this.#end("terminated", "Terminated", next.message);
    record.restarts++;
    record.restartTimes.push(nowMs);
    await this.#starter.write();
    const why =
      exit.type === "crashed"
        ? exit.message
        : exit.type === "poweredOff"
          ? "the guest powered off"
          : "the host has restarted";
    this.#set("restarting", "QemuExited", `${why}; QEMU starts again on the same disks`);
    this.#cancelRestart = this.#deps.clock.after(next.delayMs, () => {
      this.#cancelRestart = undefined;
      void this.#inTurn(async () => {
        if (!this.#closed && record.process === undefined && record.stop === undefined)
          this.#attach(await this.#starter.start());
      }).catch((error: unknown) => this.#report(error));
    });
  }

  async #end(phase: "terminated" | "failed", reason: VmReason, message: string): Promise<void> {
    this.#record.ended = { phase, reason, message };
    // A seed holds tokens and keys, and is of no use to a machine that never starts again.
    if (phase === "terminated") await rm(filesOf(this.#folder).seed, { force: true });
    await this.#starter.write().catch(() => undefined);
    this.#set(phase, reason, message);
  }

  /** Nothing announces the exit of a process that an earlier manager started. */
  async #waitForExit(running: () => boolean): Promise<void> {
    for (let check = 0; running(); check++) {
      if (check >= EXIT_CHECKS) throw new Error(`QEMU of machine ${this.order.id} does not exit`);
      await new Promise<void>((resolve) => this.#deps.clock.after(EXIT_CHECK_MS, resolve));
    }
  }

  #report(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const reason =
      error instanceof VmProblem ? error.reason : this.#connection === undefined ? "QemuExited" : "QMPNotAvailable";
    this.#set(this.#record.process === undefined ? "preparing" : "running", reason, message);
  }

  #set(phase: VmPhase, reason: VmReason, message: string): void {
    if (this.#phase === phase && this.#reason === reason && this.#message === message) return;
    this.#phase = phase;
    this.#reason = reason;
    this.#message = message;
    this.#changed();
  }

  /** What events cause; it fails when QEMU exits meanwhile, which has consequences of its own. */
  #inBackground(connection: VmConnection, work: () => Promise<void>): void {
    void this.#inTurn(work).catch((error: unknown) => {
      if (connection === this.#connection && !connection.closed) this.#report(error);
    });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return await mine;
  }
}
