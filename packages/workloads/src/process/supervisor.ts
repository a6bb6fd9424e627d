import { constants, open as openCallback } from "node:fs";
import { access } from "node:fs/promises";
import { Socket } from "node:net";
import { promisify } from "node:util";
import type { Clock } from "@capstan/apimachinery";
import { isRunning, signalGroup } from "@capstan/os";
import type { Program, ProgramState } from "../types.ts";
import { findProcess } from "./find-process.ts";
import { FirstCall } from "./first-call.ts";
import type { Isolation } from "./isolation/isolation.ts";
import type { ProgramPaths } from "./layout.ts";
import { lastErrorLine, readLogTail, rotateLog } from "./log-file.ts";
import { attemptProbe, type ProbeConnection, probeConnection } from "./probe.ts";
import { expand, filesHash, programHash, writeProgramFiles } from "./program-files.ts";
import { type ProcessRecord, removeRecord, type StartRecord, writeRecord } from "./record.ts";
import { Silence } from "./silence.ts";
import { NotExecutableError, spawnProgram } from "./spawn-program.ts";

const FIRST_BACKOFF_MS = 200;
const LAST_BACKOFF_MS = 30_000;
/** The back-off of a program that was ready this long is reset when it exits. */
const HEALTHY_AFTER_MS = 60_000;
const STARTING_PROBE_MS = 50;
/** The pipe reports immediately when a program has exited; this is for one that hangs. */
const READY_PROBE_MS = 30_000;
const DEFAULT_STOP_TIMEOUT_MS = 10_000;
/** A killed program exits immediately, unless it waits for a disk or a network file system. */
const KILLED_WITHIN_MS = 10_000;

const openFd = promisify(openCallback);

/**
 * Keeps one program running: starts and probes it, restarts it with back-off when it exits, adopts it from an earlier manager. The process
 * outlives the manager. It holds the write end of a named pipe, so end of file on it signals the exit of adopted processes too.
 */
export class Supervisor {
  #program: Program;
  readonly #paths: ProgramPaths;
  readonly #clock: Clock;
  readonly #isolation: Isolation;
  readonly #onChange: () => void;
  #current: ProgramState;
  #process: ProcessRecord | undefined;
  #stopping = false;
  #backoffMs = FIRST_BACKOFF_MS;
  #cancelTimer: () => void = () => undefined;
  #alive: Socket | undefined;
  /** To a program that has answered once; until then every attempt is a new connection, as clients make them. */
  #connection: ProbeConnection | undefined;
  readonly #firstCall = new FirstCall();
  #silence = new Silence();
  /** Why the supervisor killed it, if it did. */
  #killedFor: string | undefined;
  #gone: Promise<void> = Promise.resolve();
  /** Operations of one program never overlap. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(program: Program, paths: ProgramPaths, clock: Clock, isolation: Isolation, onChange: () => void) {
    this.#program = program;
    this.#paths = paths;
    this.#clock = clock;
    this.#isolation = isolation;
    this.#onChange = onChange;
    this.#current = {
      id: program.id,
      phase: "Stopped",
      restarts: 0,
      since: clock.now(),
      message: "",
      logFile: paths.log,
    };
  }

  state(): ProgramState {
    return this.#current;
  }

  /** Starts, adopts or replaces the process so that it runs `program`. */
  ensure(program: Program): Promise<ProgramState> {
    return this.#exclusive(async () => {
      const hash = programHash(program);
      this.#program = program;
      this.#described = true;
      this.#stopping = false;
      if (this.#process?.hash === hash && this.#isAlive()) return await this.#refreshFiles();
      // A program that waits for its next start is left to its back-off unless what is wanted has changed.
      if (this.#process === undefined && this.#current.phase === "Failed" && this.#lastHash === hash)
        return this.#current;
      if (this.#process === undefined && (await this.#adopt(hash))) return await this.#refreshFiles();
      await this.#terminate();
      this.#backoffMs = FIRST_BACKOFF_MS;
      await this.#start(hash);
      return this.#current;
    });
  }

  /** Whether the process that runs was started as `program` describes; undefined when none runs. */
  matches(program: Program): Promise<boolean | undefined> {
    return this.#exclusive(async () => {
      const record = this.#process ?? (await this.#found());
      if (record === undefined || !isRunning(record)) return undefined;
      return record.hash === programHash(program);
    });
  }

  /** Watches a process that an earlier manager started, as it is. */
  resume(): Promise<boolean> {
    return this.#exclusive(() => this.#adopt(undefined));
  }

  stop(): Promise<void> {
    return this.#exclusive(async () => {
      this.#stopping = true;
      await this.#terminate();
      this.#set("Stopped", "stopped on request");
    });
  }

  /** Forgets the process without touching it: the manager leaves, the program stays. */
  release(): void {
    this.#stopping = true;
    this.#cancelTimer();
    this.#alive?.destroy();
    this.#disconnect();
  }

  #lastHash: string | undefined;
  #logSeenMs = 0;
  /** Of the files' contents as they lie on disk. */
  #files = "";
  /** False while all that is known of the program is an earlier manager's record, which has no contents of files. */
  #described = false;

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.then(work);
    this.#queue = next.catch(() => undefined);
    return next;
  }

  /** Updates files that the running program reloads. */
  async #refreshFiles(): Promise<ProgramState> {
    const files = filesHash(this.#program);
    if (files === this.#files || this.#process === undefined) return this.#current;
    await writeProgramFiles(this.#program, this.#paths);
    this.#files = files;
    this.#process = { ...this.#process, files };
    await writeRecord(this.#paths.record, this.#process);
    return this.#current;
  }

  #isAlive(): boolean {
    return this.#process !== undefined && isRunning(this.#process);
  }

  #found(): Promise<ProcessRecord | undefined> {
    return findProcess(this.#current.id, this.#paths, this.#clock);
  }

  async #adopt(hash: string | undefined): Promise<boolean> {
    const record = await this.#found();
    if (record === undefined || (hash !== undefined && record.hash !== hash)) {
      this.#process = record;
      return false;
    }
    this.#lastHash = record.hash;
    this.#files = record.files ?? "";
    this.#current = { ...this.#current, restarts: record.restarts, pid: record.pid };
    await this.#watchEnd(record);
    this.#set("Running", "adopted from an earlier manager");
    // It was started long ago: what does not answer from now on hangs.
    this.#silence.broken(this.#clock.monotonic());
    this.#scheduleProbe(0);
    return true;
  }

  async #start(hash: string): Promise<void> {
    this.#lastHash = hash;
    try {
      await this.#checkRequired();
      if (this.#described) {
        await writeProgramFiles(this.#program, this.#paths);
        this.#files = filesHash(this.#program);
      }
      await rotateLog(this.#paths.log);
      const { secretFiles: _secret, ...program } = this.#program;
      const intent: StartRecord = { hash, files: this.#files, restarts: this.#current.restarts, program };
      // Before the process exists, so that a manager that is killed right after its start leaves one that can be found.
      await writeRecord(this.#paths.record, intent);
      await spawnProgram(this.#program, this.#paths, this.#isolation, async (identity) => {
        const { pid } = identity;
        const record: ProcessRecord = { ...intent, ...identity };
        await this.#watchEnd(record);
        // On a full disk the intent leads to it as well.
        await writeRecord(this.#paths.record, record).catch(() => undefined);
        this.#current = { ...this.#current, pid };
        this.#firstCall.starts();
        this.#set("Starting", `started with pid ${pid}`);
      });
      this.#scheduleProbe(STARTING_PROBE_MS);
    } catch (error) {
      this.#process = undefined;
      // A program that cannot be executed counts as one that exits immediately, so that nothing waits for a timeout.
      if (error instanceof NotExecutableError)
        this.#current = { ...this.#current, restarts: this.#current.restarts + 1 };
      const why = error instanceof Error ? error.message : String(error);
      this.#set("Failed", `cannot start ${this.#program.command}, trying again in ${this.#backoffMs / 1000} s: ${why}`);
      this.#scheduleRestart();
    }
  }

  async #checkRequired(): Promise<void> {
    const { requires } = this.#program;
    if (requires === undefined) return;
    // As the manager sees it, which the program may see under another name.
    const path = requires.replaceAll("$DATA", this.#paths.data).replaceAll("$FILES", this.#paths.files);
    await access(path).catch(() => {
      throw new Error(`${path} is missing; refusing to start from an empty data directory`);
    });
  }

  /** Resolves `gone` and decides what follows when the last holder of the pipe's write end has gone. */
  async #watchEnd(record: ProcessRecord): Promise<void> {
    // Before the pipe can report: a program may end before its start has returned.
    this.#process = record;
    this.#silence = new Silence();
    this.#killedFor = undefined;
    const fd = await openFd(this.#paths.alive, constants.O_RDONLY | constants.O_NONBLOCK);
    const socket = new Socket({ fd, readable: true, writable: false });
    socket.unref();
    this.#alive = socket;
    this.#gone = new Promise((resolve) => {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        resolve();
        if (this.#process?.pid === record.pid && !this.#stopping) void this.#exclusive(() => this.#ended(record));
      });
      socket.resume();
    });
  }

  /** Also of a program that never gets ready. */
  async #keepLogShort(): Promise<void> {
    if (this.#clock.now() - this.#logSeenMs < READY_PROBE_MS) return;
    this.#logSeenMs = this.#clock.now();
    await rotateLog(this.#paths.log).catch(() => undefined);
  }

  #disconnect(): void {
    this.#connection?.destroy();
    this.#connection = undefined;
  }

  async #ended(record: ProcessRecord): Promise<void> {
    if (this.#process?.pid !== record.pid || this.#stopping) return;
    this.#disconnect();
    const wasHealthy = this.#current.phase === "Ready" && this.#clock.now() - this.#current.since >= HEALTHY_AFTER_MS;
    if (wasHealthy) this.#backoffMs = FIRST_BACKOFF_MS;
    this.#process = undefined;
    const why = lastErrorLine(await readLogTail(this.#paths.log));
    this.#current = { ...this.#current, restarts: this.#current.restarts + 1 };
    delete this.#current.pid;
    const how = this.#killedFor ?? "exited by itself";
    this.#set("Failed", `${how}, starting again in ${this.#backoffMs / 1000} s; its last error: ${why}`);
    this.#scheduleRestart();
  }

  #scheduleRestart(): void {
    this.#cancelTimer();
    const delay = this.#backoffMs;
    this.#backoffMs = Math.min(this.#backoffMs * 2, LAST_BACKOFF_MS);
    this.#cancelTimer = this.#clock.after(delay, () => {
      void this.#exclusive(async () => {
        if (this.#stopping || this.#process !== undefined) return;
        await this.#start(this.#described ? programHash(this.#program) : (this.#lastHash ?? ""));
      });
    });
  }

  #scheduleProbe(delayMs: number): void {
    this.#cancelTimer();
    const probe = this.#program.probe;
    const record = this.#process;
    if (probe === undefined) {
      this.#set("Ready", "running");
      return;
    }
    this.#cancelTimer = this.#clock.after(delayMs, () => {
      const path = (text: string): string => expand(text, this.#program, this.#paths);
      void attemptProbe(probe, path, this.#connection).then((problem) => {
        if (this.#process?.pid !== record?.pid || this.#stopping || record === undefined) return;
        const ready = problem === undefined;
        if (problem?.silent !== true) this.#silence.broken(this.#clock.monotonic());
        else if (this.#silence.heard(this.#clock.monotonic())) {
          this.#endHung(record);
          return;
        }
        if (ready) this.#connection ??= probeConnection(probe);
        else this.#disconnect();
        if (ready) this.#set("Ready", "responds to its probe");
        else this.#set(this.#current.phase === "Starting" ? "Starting" : "Running", problem.text);
        void this.#keepLogShort();
        if (this.#firstCall.isLost(probe.checkedOnce, problem, this.#clock.now())) {
          void this.#exclusive(() => this.#startAnew(record));
          return;
        }
        this.#scheduleProbe(ready ? (probe.periodMs ?? READY_PROBE_MS) : STARTING_PROBE_MS * 2);
      });
    });
  }

  /** What went wrong was not its fault: it does not count as a restart and waits for nothing. */
  async #startAnew(record: ProcessRecord | undefined): Promise<void> {
    if (record === undefined || this.#process?.pid !== record.pid || this.#stopping) return;
    try {
      await this.#terminate();
    } catch (error) {
      // The next caller retries; the manager must not exit because of it.
      this.#set("Running", error instanceof Error ? error.message : String(error));
      return;
    }
    await this.#start(record.hash);
  }

  /** A hung program neither exits by itself nor reacts to SIGTERM. The pipe reports its exit. */
  #endHung(record: ProcessRecord): void {
    const seconds = Math.round(this.#silence.lastedMs(this.#clock.monotonic()) / 1000);
    this.#killedFor = `did not answer for ${seconds} s and was killed`;
    this.#set("Running", this.#killedFor);
    signalGroup(record, "SIGKILL");
  }

  async #terminate(): Promise<void> {
    this.#cancelTimer();
    this.#disconnect();
    const record = this.#process ?? (await this.#found());
    this.#process = undefined;
    if (record !== undefined && isRunning(record)) {
      if (this.#alive === undefined || this.#alive.destroyed) await this.#watchEnd(record);
      this.#process = undefined;
      signalGroup(record, "SIGTERM");
      const timeout = this.#program.stopTimeoutMs ?? DEFAULT_STOP_TIMEOUT_MS;
      const kill = this.#clock.after(timeout, () => signalGroup(record, "SIGKILL"));
      let tooLong = (): void => undefined;
      const stuck = new Promise<"stuck">((resolve) => {
        tooLong = this.#clock.after(timeout + KILLED_WITHIN_MS, () => resolve("stuck"));
      });
      const how = await Promise.race([this.#gone, stuck]);
      kill();
      tooLong();
      // Its children may hold the pipe open after it. If it still exists, the caller retries, and the record identifies it.
      if (how === "stuck" && isRunning(record))
        throw new Error(
          `${this.#program.id.name} (pid ${record.pid}) was killed and still exists: the kernel holds it`,
        );
    }
    this.#alive?.destroy();
    this.#alive = undefined;
    await removeRecord(this.#paths.record);
    const stopped = { ...this.#current };
    delete stopped.pid;
    this.#current = stopped;
  }

  #set(phase: ProgramState["phase"], message: string): void {
    if (this.#current.phase === phase && this.#current.message === message) return;
    const since = this.#current.phase === phase ? this.#current.since : this.#clock.now();
    this.#current = { ...this.#current, phase, message, since };
    this.#onChange();
  }
}
