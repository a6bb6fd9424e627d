import { connect, type Socket } from "node:net";
import { isObject, type JsonObject } from "@capstan/apimachinery";
import { parseForeignJson } from "@capstan/apimachinery/foreign";
import { LineSplitter } from "@capstan/runtime";
import { connectionError, VmSocketError } from "./vm-socket-error.ts";

/** Who is connected to, and what becomes of what it sends. */
export interface JsonSocketOptions {
  path: string;
  /** Names the socket in errors. */
  what: string;
  /** A longer line ends the connection. */
  maxLineBytes: number;
  onOpen?: () => void;
  onLine: (line: string) => void;
  /** Once, after an error or when the other side closes; not after `close`. */
  onEnd: (error: VmSocketError) => void;
}

/** A connection that carries one JSON document per line. What it receives is foreign: a guest can take over the QEMU that runs it. */
export class JsonSocket {
  readonly #socket: Socket;
  readonly #options: JsonSocketOptions;
  readonly #lines: LineSplitter;
  #over = false;

  constructor(options: JsonSocketOptions) {
    this.#options = options;
    this.#lines = new LineSplitter(options.maxLineBytes);
    this.#socket = connect({ path: options.path });
    this.#socket.unref();
    this.#socket.on("connect", () => options.onOpen?.());
    this.#socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#socket.on("error", (error) => this.fail(connectionError(options.what, error)));
    this.#socket.on("close", () =>
      this.fail(new VmSocketError("disconnected", `${options.what}: the connection was closed`)),
    );
  }

  /** `mark` is a byte before the document that no document contains. */
  send(document: object, mark?: Buffer): void {
    if (this.#over) return;
    const text = Buffer.from(`${JSON.stringify(document)}\n`);
    this.#socket.write(mark === undefined ? text : Buffer.concat([mark, text]));
  }

  close(): void {
    this.#over = true;
    this.#socket.destroy();
  }

  /** Closes the connection because of what it received. */
  fail(error: VmSocketError): void {
    if (this.#over) return;
    this.close();
    this.#options.onEnd(error);
  }

  #receive(chunk: Buffer): void {
    const { what, maxLineBytes, onLine } = this.#options;
    let lines: string[];
    try {
      lines = this.#lines.push(chunk);
    } catch {
      this.fail(new VmSocketError("limit", `${what}: an answer has more than ${maxLineBytes} bytes`));
      return;
    }
    for (const line of lines) if (!this.#over) onLine(line);
  }
}

/** A line as a JSON object. */
export function parseLine(line: string, what: string): JsonObject {
  let value: unknown;
  try {
    value = parseForeignJson(line, what);
  } catch (error) {
    throw new VmSocketError("protocol", error instanceof Error ? error.message : String(error));
  }
  if (!isObject(value)) throw new VmSocketError("protocol", `${what}: the answer is not an object`);
  return value;
}

/** What an error of QEMU or the agent says, shortened: its length is up to the sender. */
export function refusal(what: string, error: unknown): VmSocketError {
  const { class: kind, desc } = isObject(error) ? error : ({} as JsonObject);
  const text = typeof desc === "string" ? desc.slice(0, 500) : "no reason given";
  return new VmSocketError("refused", `${what}: ${text}`, typeof kind === "string" ? kind.slice(0, 100) : undefined);
}
