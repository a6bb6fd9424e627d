import { type Clock, isObject, type JsonObject, type Random, randomInt } from "@capstan/apimachinery";
import { JsonSocket, parseLine, refusal } from "./json-socket.ts";
import { VmSocketError } from "./vm-socket-error.ts";

const COMMAND_MS = 10_000;
/** Output of commands arrives in one answer. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** The agent has no event for a command that has ended. */
const EXIT_CHECK_MS = 500;
/** No JSON text contains it: the agent forgets what it has received of a line, and puts it before its own next answer. */
const MARK = Buffer.from([0xff]);
const MARK_AS_TEXT = "\ufffd";
const MAX_INTERFACES = 100;

/** Where a guest agent is reached. */
export interface GuestAgentOptions {
  path: string;
  clock: Clock;
  random: Random;
  maxAnswerBytes?: number;
}

/** What a program in the guest did. */
export interface GuestCommandResult {
  /** Undefined when a signal ended it. */
  exitCode: number | undefined;
  signal: number | undefined;
  stdout: string;
  stderr: string;
  /** The agent keeps only the first megabytes. */
  truncated: boolean;
}

/** A network interface as the guest reports it. */
export interface GuestInterface {
  name: string;
  mac: string | undefined;
  /** As `192.0.2.7/24`. */
  addresses: string[];
}

/**
 * The agent in a guest. It connects when it is needed, and again after a loss. Everything that it answers is up to the guest. Commands wait
 * for each other, since answers do not say what they answer; after one that did not complete the conversation is synchronized again.
 */
export class GuestAgent {
  readonly #options: GuestAgentOptions;
  readonly #what: string;
  #socket: JsonSocket | undefined;
  #answered: ((line: string) => void) | undefined;
  #failed: ((error: VmSocketError) => void) | undefined;
  #inSync = false;
  #closed = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: GuestAgentOptions) {
    this.#options = options;
    this.#what = `guest agent ${options.path}`;
  }

  close(): void {
    this.#closed = true;
    this.#lose(this.#closedError());
  }

  /** Whether it answers at all. */
  async ping(timeoutMs = COMMAND_MS): Promise<void> {
    await this.#call("guest-ping", undefined, timeoutMs);
  }

  /** The guest's network interfaces except its loopback. */
  async networkInterfaces(timeoutMs = COMMAND_MS): Promise<GuestInterface[]> {
    const answer = await this.#call("guest-network-get-interfaces", undefined, timeoutMs);
    if (!Array.isArray(answer)) throw this.#unexpected("guest-network-get-interfaces");
    return answer
      .slice(0, MAX_INTERFACES)
      .filter(isObject)
      .map(readInterface)
      .filter(({ name }) => name !== "" && name !== "lo");
  }

  /** Starts to shut the guest down. It confirms nothing: wait for QEMU's event "shutdown". */
  async shutdown(mode: "powerdown" | "reboot" | "halt" = "powerdown", timeoutMs = COMMAND_MS): Promise<void> {
    await this.#inTurn(async () => {
      const socket = await this.#synchronized(timeoutMs);
      socket.send({ execute: "guest-shutdown", arguments: { mode } });
      // A refusal may still arrive, and must not be taken for the next answer.
      this.#inSync = false;
    });
  }

  /** Runs a program in the guest until it exits. Its arguments are visible in the guest; what is secret goes into `input`. */
  async exec(
    command: { path: string; args?: string[]; input?: string },
    timeoutMs = 60_000,
  ): Promise<GuestCommandResult> {
    const { clock } = this.#options;
    const endMs = clock.monotonic() + timeoutMs;
    const { path, args = [], input } = command;
    const started = await this.#call(
      "guest-exec",
      { path, arg: args, "capture-output": true, "input-data": input && Buffer.from(input).toString("base64") },
      timeoutMs,
    );
    const pid = isObject(started) ? started["pid"] : undefined;
    if (typeof pid !== "number") throw this.#unexpected("guest-exec");
    for (;;) {
      const leftMs = endMs - clock.monotonic();
      if (leftMs <= 0)
        throw new VmSocketError("timeout", `${this.#what}: ${path} did not exit within ${timeoutMs / 1000} s`);
      const state = await this.#call("guest-exec-status", { pid }, leftMs);
      if (!isObject(state)) throw this.#unexpected("guest-exec-status");
      if (state["exited"] === true) return readResult(state);
      await new Promise<void>((resolve) => clock.after(Math.min(EXIT_CHECK_MS, leftMs), resolve));
    }
  }

  async #call(command: string, args: object | undefined, timeoutMs: number): Promise<unknown> {
    return await this.#inTurn(async () => {
      const endMs = this.#options.clock.monotonic() + timeoutMs;
      const socket = await this.#synchronized(timeoutMs);
      const answer = this.#next(endMs - this.#options.clock.monotonic(), `${command} did not complete`, "timeout");
      socket.send({ execute: command, ...(args === undefined ? {} : { arguments: args }) });
      const { return: result, error } = this.#parse(await answer);
      if (error !== undefined) throw refusal(`${this.#what}: ${command}`, error);
      return result;
    });
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine.catch(() => undefined);
    return await mine;
  }

  /** A connection on which the next answer is that to the next command. */
  async #synchronized(timeoutMs: number): Promise<JsonSocket> {
    if (this.#closed) throw this.#closedError();
    const socket = (this.#socket ??= this.#connect());
    if (this.#inSync) return socket;
    const id = randomInt(this.#options.random, 2 ** 31);
    socket.send({ execute: "guest-sync-delimited", arguments: { id } }, MARK);
    // Answers to earlier commands, or a part of one, may come first.
    const isAnswer = (line: string): boolean => {
      const at = line.lastIndexOf(MARK_AS_TEXT);
      return at >= 0 && this.#syncAnswer(line.slice(at + 1)) === id;
    };
    await this.#next(timeoutMs, "is not installed, not started, or serves another client;", "silent", isAnswer);
    this.#inSync = true;
    return socket;
  }

  #syncAnswer(line: string): unknown {
    try {
      return parseLine(line, this.#what)["return"];
    } catch {
      return undefined;
    }
  }

  #parse(line: string): JsonObject {
    try {
      return parseLine(line, this.#what);
    } catch (error) {
      this.#inSync = false;
      throw error;
    }
  }

  /** The next line that is acceptable, or the failure that ends the wait for it. */
  #next(
    timeoutMs: number,
    failing: string,
    problem: "timeout" | "silent",
    accept: (line: string) => boolean = () => true,
  ): Promise<string> {
    return new Promise<string>((resolve, reject) => {
      const done = (): void => {
        cancel();
        this.#answered = undefined;
        this.#failed = undefined;
      };
      const cancel = this.#options.clock.after(timeoutMs, () => {
        done();
        this.#inSync = false;
        reject(new VmSocketError(problem, `${this.#what}: ${failing} no answer within its time`));
      });
      this.#answered = (line) => {
        if (!accept(line)) return;
        done();
        resolve(line);
      };
      this.#failed = (error) => {
        done();
        reject(error);
      };
    });
  }

  #connect(): JsonSocket {
    const { path, maxAnswerBytes = MAX_ANSWER_BYTES } = this.#options;
    return new JsonSocket({
      path,
      what: this.#what,
      maxLineBytes: maxAnswerBytes,
      // Nothing waits for it: the guest sends what it likes.
      onLine: (line) => this.#answered?.(line),
      onEnd: (error) => this.#lose(error),
    });
  }

  #lose(error: VmSocketError): void {
    this.#socket?.close();
    this.#socket = undefined;
    this.#inSync = false;
    this.#failed?.(error);
  }

  #closedError(): VmSocketError {
    return new VmSocketError("closed", `${this.#what}: this client was closed`);
  }

  #unexpected(command: string): VmSocketError {
    return new VmSocketError("protocol", `${this.#what}: the answer to ${command} does not have the expected fields`);
  }
}

function readResult(state: JsonObject): GuestCommandResult {
  const whole = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? Number(value) : undefined);
  const text = (value: unknown): string =>
    typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : "";
  return {
    exitCode: whole(state["exitcode"]),
    signal: whole(state["signal"]),
    stdout: text(state["out-data"]),
    stderr: text(state["err-data"]),
    truncated: state["out-truncated"] === true || state["err-truncated"] === true,
  };
}

function readInterface(value: JsonObject): GuestInterface {
  const text = (item: unknown): string => (typeof item === "string" ? item.slice(0, 100) : "");
  const found = Array.isArray(value["ip-addresses"]) ? value["ip-addresses"].slice(0, MAX_INTERFACES) : [];
  const mac = text(value["hardware-address"]);
  return {
    name: text(value["name"]),
    mac: mac === "" ? undefined : mac,
    addresses: found
      .filter(isObject)
      .filter(({ prefix }) => Number.isSafeInteger(prefix))
      .map((address) => `${text(address["ip-address"])}/${Number(address["prefix"])}`),
  };
}
