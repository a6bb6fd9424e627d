import { type Clock, isObject, type JsonObject } from "@capstan/apimachinery";
import { JsonSocket, parseLine, refusal } from "./json-socket.ts";
import { type QmpEvent, readEvent } from "./qmp-events.ts";
import { busy, VmSocketError } from "./vm-socket-error.ts";

/** QEMU sends its greeting at once to the client that it serves. */
const GREETING_MS = 5000;
const COMMAND_MS = 10_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5000;
/** The largest answer that is used, a list of disks, has some kilobytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** Whether QEMU answers, and if not, why. */
export type QmpState =
  | { connected: true; qemuVersion: string }
  /** Undefined until the first attempt has failed. */
  | { connected: false; problem: VmSocketError | undefined };

/** Where QEMU is reached, and who learns what it reports. */
export interface QmpOptions {
  path: string;
  clock: Clock;
  onEvent?: (event: QmpEvent) => void;
  /** Events are lost while the connection is: whoever needs their state asks again when it is back. */
  onState?: (state: QmpState) => void;
  maxAnswerBytes?: number;
}

interface Pending {
  command: string;
  resolve: (result: unknown) => void;
  reject: (error: Error) => void;
}

/**
 * The control socket of a running QEMU. It connects by itself, again after each loss, and reports what QEMU reports. QEMU serves one
 * client at a time, so that one client per machine is kept open rather than one per question.
 */
export class Qmp {
  readonly #options: QmpOptions;
  readonly #what: string;
  readonly #pending = new Map<number, Pending>();
  readonly #waiting = new Set<() => void>();
  #socket: JsonSocket | undefined;
  #state: QmpState = { connected: false, problem: undefined };
  #cancelTimer: () => void = () => undefined;
  #retryMs = FIRST_RETRY_MS;
  #lastId = 0;
  #closed = false;

  constructor(options: QmpOptions) {
    this.#options = options;
    this.#what = `QMP socket ${options.path}`;
    this.#connect();
  }

  get state(): QmpState {
    return this.#state;
  }

  /** Ends the connection; the machine keeps running. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTimer();
    this.#socket?.close();
    this.#lose(new VmSocketError("closed", `${this.#what}: this client was closed`));
  }

  /**
   * Carries out a command, which waits for the connection if there is none. A command is sent once: after "timeout" and "disconnected" it is
   * unknown whether QEMU carried it out.
   */
  async execute(command: string, args?: object, timeoutMs = COMMAND_MS): Promise<unknown> {
    const startMs = this.#options.clock.monotonic();
    await this.#connected(timeoutMs);
    const leftMs = timeoutMs - (this.#options.clock.monotonic() - startMs);
    const id = ++this.#lastId;
    return await new Promise<unknown>((resolve, reject) => {
      const cancel = this.#options.clock.after(leftMs, () => {
        this.#pending.delete(id);
        reject(new VmSocketError("timeout", `${this.#what}: ${command} did not complete within ${timeoutMs / 1000} s`));
      });
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          cancel();
          settle(value);
        };
      this.#pending.set(id, { command, resolve: settled(resolve), reject: settled(reject) });
      this.#socket?.send({ execute: command, id, ...(args === undefined ? {} : { arguments: args }) });
    });
  }

  /** Whether there is a connection, at the latest after `timeoutMs`. */
  async #connected(timeoutMs: number): Promise<void> {
    const { clock } = this.#options;
    if (this.#closed) throw new VmSocketError("closed", `${this.#what}: this client was closed`);
    if (this.#state.connected) return;
    await new Promise<void>((resolve, reject) => {
      const check = (): void => {
        if (!this.#closed && !this.#state.connected) return;
        cancel();
        this.#waiting.delete(check);
        if (this.#state.connected) resolve();
        else reject(this.#state.problem);
      };
      const cancel = clock.after(timeoutMs, () => {
        this.#waiting.delete(check);
        const reason = this.#state.connected ? undefined : this.#state.problem;
        reject(reason ?? busy(this.#what));
      });
      this.#waiting.add(check);
    });
  }

  #connect(): void {
    const { path, clock, maxAnswerBytes = MAX_ANSWER_BYTES } = this.#options;
    const socket = new JsonSocket({
      path,
      what: this.#what,
      maxLineBytes: maxAnswerBytes,
      onLine: (line) => this.#read(socket, line),
      onEnd: (error) => this.#lose(error),
    });
    this.#socket = socket;
    this.#cancelTimer = clock.after(GREETING_MS, () => socket.fail(busy(this.#what)));
  }

  #read(socket: JsonSocket, line: string): void {
    try {
      const message = parseLine(line, this.#what);
      if (message["QMP"] !== undefined) this.#greet(socket, message["QMP"]);
      else if (message["event"] !== undefined) this.#options.onEvent?.(readEvent(message));
      else this.#answer(message);
    } catch (error) {
      if (!(error instanceof VmSocketError)) throw error;
      socket.fail(error);
    }
  }

  /** A connection serves commands once the capabilities are negotiated, even if none is chosen. */
  #greet(socket: JsonSocket, greeting: unknown): void {
    const qemuVersion = versionOf(greeting);
    if (qemuVersion === undefined || this.#state.connected)
      throw new VmSocketError("protocol", `${this.#what}: the greeting is not one of QEMU`);
    const id = ++this.#lastId;
    this.#pending.set(id, {
      command: "qmp_capabilities",
      resolve: () => {
        this.#cancelTimer();
        this.#retryMs = FIRST_RETRY_MS;
        this.#change({ connected: true, qemuVersion });
      },
      reject: (error) => {
        if (error instanceof VmSocketError) socket.fail(error);
      },
    });
    socket.send({ execute: "qmp_capabilities", id });
  }

  #answer({ id, return: result, error }: JsonObject): void {
    // Without an id it refuses something that QEMU could not read, and it is unknown what.
    if (typeof id !== "number")
      throw new VmSocketError("protocol", `${this.#what}: an answer does not say what it answers`);
    const pending = this.#pending.get(id);
    // The answer to a command whose time was over.
    if (pending === undefined) return;
    this.#pending.delete(id);
    if (error === undefined) pending.resolve(result);
    else pending.reject(refusal(`${this.#what}: ${pending.command}`, error));
  }

  #lose(problem: VmSocketError): void {
    this.#cancelTimer();
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#change({ connected: false, problem });
    for (const { reject } of pending) reject(problem);
    if (this.#closed) return;
    this.#cancelTimer = this.#options.clock.after(this.#retryMs, () => this.#connect());
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  #change(state: QmpState): void {
    this.#state = state;
    for (const check of this.#waiting) check();
    this.#options.onState?.(state);
  }
}

function versionOf(greeting: unknown): string | undefined {
  const version = isObject(greeting) && isObject(greeting["version"]) ? greeting["version"]["qemu"] : undefined;
  if (!isObject(version)) return undefined;
  const numbers = [version["major"], version["minor"], version["micro"]];
  return numbers.every(Number.isSafeInteger) ? numbers.join(".") : undefined;
}
