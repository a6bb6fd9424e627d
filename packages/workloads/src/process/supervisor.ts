import { type ChildProcess, execFile, spawn } from "node:child_process";
import { close, constants, open as openCallback } from "node:fs";
import { open, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { promisify } from "node:util";
import type { Clock } from "@capstan/apimachinery";
import type { Program, ProgramState } from "../types.ts";
import type { ProgramPaths } from "./layout.ts";
import { lastErrorLine, readLogTail, rotateLog } from "./log-file.ts";
import { attemptProbe } from "./probe.ts";
import { processStartTime, signalProcess } from "./proc.ts";
import { expand, programHash, writeProgramFiles } from "./program-files.ts";
import { type ProcessRecord, readRecord, removeRecord, writeRecord } from "./record.ts";

const FIRST_BACKOFF_MS = 200;
const LAST_BACKOFF_MS = 30_000;
/** A program that was ready this long starts its back-off from the beginning when it ends. */
const HEALTHY_AFTER_MS = 60_000;
const STARTING_PROBE_MS = 100;
const READY_PROBE_MS = 15_000;
const DEFAULT_STOP_TIMEOUT_MS = 10_000;

const openFd = promisify(openCallback);
const closeFd = promisify(close);
const run = promisify(execFile);

/**
 * Keeps one program running: starts it, probes it, starts it again with back-off when it ends, adopts it when an earlier manager
 * started it. The process outlives the manager; end of file on a named pipe whose write end it holds tells when it is gone, so that
 * nothing is polled and an adopted process is watched like an own one.
 */
export class Supervisor {
  private program: Program;
  private readonly paths: ProgramPaths;
  private readonly clock: Clock;
  private readonly onChange: () => void;
  private current: ProgramState;
  private process: ProcessRecord | undefined;
  private stopping = false;
  private backoffMs = FIRST_BACKOFF_MS;
  private cancelTimer: () => void = () => undefined;
  private alive: Socket | undefined;
  private gone: Promise<void> = Promise.resolve();
  /** Operations of one program never overlap. */
  private queue: Promise<unknown> = Promise.resolve();

  constructor(program: Program, paths: ProgramPaths, clock: Clock, onChange: () => void) {
    this.program = program;
    this.paths = paths;
    this.clock = clock;
    this.onChange = onChange;
    this.current = {
      id: program.id,
      phase: "Stopped",
      restarts: 0,
      since: clock.now(),
      message: "",
      logFile: paths.log,
    };
  }

  state(): ProgramState {
    return this.current;
  }

  /** Starts, adopts or replaces the process so that it runs `program`. */
  ensure(program: Program): Promise<ProgramState> {
    return this.exclusive(async () => {
      const hash = programHash(program);
      this.program = program;
      this.stopping = false;
      if (this.process?.hash === hash && (await this.isAlive())) return this.current;
      // A program that waits for its next start is left to its back-off unless what is wanted has changed.
      if (this.process === undefined && this.current.phase === "Failed" && this.lastHash === hash) return this.current;
      if (this.process === undefined && (await this.adopt(hash))) return this.current;
      await this.terminate();
      this.backoffMs = FIRST_BACKOFF_MS;
      await this.start(hash);
      return this.current;
    });
  }

  /** Watches a process that an earlier manager started, as it is. */
  resume(): Promise<boolean> {
    return this.exclusive(() => this.adopt(undefined));
  }

  stop(): Promise<void> {
    return this.exclusive(async () => {
      this.stopping = true;
      await this.terminate();
      this.set("Stopped", "stopped on request");
    });
  }

  /** Forgets the process without touching it: the manager leaves, the program stays. */
  release(): void {
    this.stopping = true;
    this.cancelTimer();
    this.alive?.destroy();
  }

  private lastHash: string | undefined;

  private exclusive<T>(work: () => Promise<T>): Promise<T> {
    const next = this.queue.then(work);
    this.queue = next.catch(() => undefined);
    return next;
  }

  private async isAlive(): Promise<boolean> {
    return this.process !== undefined && (await processStartTime(this.process.pid)) === this.process.startTime;
  }

  private async adopt(hash: string | undefined): Promise<boolean> {
    const record = await readRecord(this.paths.record);
    if (record === undefined || (hash !== undefined && record.hash !== hash)) {
      this.process = record;
      return false;
    }
    if ((await processStartTime(record.pid)) !== record.startTime) return false;
    this.lastHash = record.hash;
    this.current = { ...this.current, restarts: record.restarts, pid: record.pid };
    await this.watchEnd(record);
    this.set("Running", "adopted from an earlier manager");
    this.scheduleProbe(0);
    return true;
  }

  private async start(hash: string): Promise<void> {
    this.lastHash = hash;
    try {
      await writeProgramFiles(this.program, this.paths);
      await rotateLog(this.paths.log);
      const record = await this.spawn(hash);
      await writeRecord(this.paths.record, record);
      this.current = { ...this.current, pid: record.pid };
      this.set("Starting", `started with pid ${record.pid}`);
      this.scheduleProbe(STARTING_PROBE_MS);
    } catch (error) {
      this.process = undefined;
      this.set(
        "Failed",
        `cannot start ${this.program.command}: ${error instanceof Error ? error.message : String(error)}`,
      );
      this.scheduleRestart();
    }
  }

  private async spawn(hash: string): Promise<ProcessRecord> {
    await rm(this.paths.alive, { force: true });
    await run("mkfifo", ["-m", "600", this.paths.alive]);
    const log = await open(this.paths.log, "a", 0o600);
    // Opened for reading and writing, so that neither side waits for the other.
    const aliveFd = await openFd(this.paths.alive, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      const expanded = (text: string): string => expand(text, this.paths);
      const env = { PATH: process.env["PATH"] ?? "", HOME: this.paths.dir, ...this.program.env };
      const limit = this.program.memoryBytes === undefined ? {} : { GOMEMLIMIT: String(this.program.memoryBytes) };
      const child = spawn(this.program.command, this.program.args.map(expanded), {
        cwd: this.paths.dir,
        detached: true,
        env: Object.fromEntries(Object.entries({ ...env, ...limit }).map(([key, value]) => [key, expanded(value)])),
        stdio: ["ignore", log.fd, log.fd, aliveFd],
        ...(this.program.uid === undefined ? {} : { uid: this.program.uid, gid: this.program.uid }),
      });
      const pid = await spawned(child);
      child.unref();
      const startTime = (await processStartTime(pid)) ?? -1;
      const { secretFiles: _secret, ...description } = this.program;
      const record: ProcessRecord = { pid, startTime, hash, restarts: this.current.restarts, program: description };
      await this.watchEnd(record);
      return record;
    } finally {
      await closeFd(aliveFd);
      await log.close();
    }
  }

  /** Resolves `gone` and decides what follows when the last holder of the pipe's write end has gone. */
  private async watchEnd(record: ProcessRecord): Promise<void> {
    // Before the pipe can report: a program may end before its start has returned.
    this.process = record;
    const fd = await openFd(this.paths.alive, constants.O_RDONLY | constants.O_NONBLOCK);
    const socket = new Socket({ fd, readable: true, writable: false });
    socket.unref();
    this.alive = socket;
    this.gone = new Promise((resolve) => {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        resolve();
        if (this.process === record && !this.stopping) void this.exclusive(() => this.ended(record));
      });
      socket.resume();
    });
  }

  private async ended(record: ProcessRecord): Promise<void> {
    if (this.process !== record || this.stopping) return;
    const wasHealthy = this.current.phase === "Ready" && this.clock.now() - this.current.since >= HEALTHY_AFTER_MS;
    if (wasHealthy) this.backoffMs = FIRST_BACKOFF_MS;
    this.process = undefined;
    const why = lastErrorLine(await readLogTail(this.paths.log));
    this.current = { ...this.current, restarts: this.current.restarts + 1 };
    delete this.current.pid;
    this.set("Failed", `ended by itself, starting again in ${this.backoffMs / 1000} s; its last error: ${why}`);
    this.scheduleRestart();
  }

  private scheduleRestart(): void {
    this.cancelTimer();
    const delay = this.backoffMs;
    this.backoffMs = Math.min(this.backoffMs * 2, LAST_BACKOFF_MS);
    this.cancelTimer = this.clock.after(delay, () => {
      void this.exclusive(async () => {
        if (!this.stopping && this.process === undefined) await this.start(programHash(this.program));
      });
    });
  }

  private scheduleProbe(delayMs: number): void {
    this.cancelTimer();
    const probe = this.program.probe;
    const record = this.process;
    if (probe === undefined) {
      this.set("Ready", "running");
      return;
    }
    this.cancelTimer = this.clock.after(delayMs, () => {
      void attemptProbe(probe, (text) => expand(text, this.paths)).then((problem) => {
        if (this.process !== record || this.stopping) return;
        if (problem === undefined) this.set("Ready", "answers its probe");
        else this.set(this.current.phase === "Starting" ? "Starting" : "Running", problem);
        const ready = problem === undefined;
        if (ready) void rotateLog(this.paths.log).catch(() => undefined);
        this.scheduleProbe(ready ? (probe.periodMs ?? READY_PROBE_MS) : STARTING_PROBE_MS * 2);
      });
    });
  }

  private async terminate(): Promise<void> {
    this.cancelTimer();
    const record = this.process ?? (await readRecord(this.paths.record));
    this.process = undefined;
    if (record !== undefined && (await processStartTime(record.pid)) === record.startTime) {
      if (this.alive === undefined || this.alive.destroyed) await this.watchEnd(record);
      this.process = undefined;
      await signalProcess(record.pid, record.startTime, "SIGTERM");
      const timeout = this.program.stopTimeoutMs ?? DEFAULT_STOP_TIMEOUT_MS;
      const cancel = this.clock.after(timeout, () => void signalProcess(record.pid, record.startTime, "SIGKILL"));
      await this.gone;
      cancel();
    }
    this.alive?.destroy();
    this.alive = undefined;
    await removeRecord(this.paths.record);
    const stopped = { ...this.current };
    delete stopped.pid;
    this.current = stopped;
  }

  private set(phase: ProgramState["phase"], message: string): void {
    if (this.current.phase === phase && this.current.message === message) return;
    const since = this.current.phase === phase ? this.current.since : this.clock.now();
    this.current = { ...this.current, phase, message, since };
    this.onChange();
  }
}

function spawned(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("spawn", () => (child.pid === undefined ? reject(new Error("no pid")) : resolve(child.pid)));
  });
}
