import { Duplex, type Readable } from "node:stream";
import { type Client, openWebSocket, resourcePath } from "@capstan/runtime";
import { Pod } from "./kinds.ts";

/** Channels with a number before each message; every kubelet since 2016 speaks it. */
const PROTOCOL = "v4.channel.k8s.io";
const CHUNK = 32 * 1024;
/** How much of a program's output is kept for its error. */
const OUTPUT_LIMIT = 4096;
const STDIN = 0;
const STDERR = 2;
const RESULT = 3;

/** Identifies a pod, and one of its containers where a call needs one. */
export interface PodAddress {
  namespace: string;
  name: string;
  container?: string;
}

/** Opens a connection to a port of a pod through the API server of its cluster, as `kubectl port-forward` does. */
export async function forwardPort(
  client: Client,
  { namespace, name }: PodAddress,
  port: number,
  signal?: AbortSignal,
): Promise<Duplex> {
  const path = resourcePath(Pod, namespace, name, "portforward");
  const query = { ports: String(port) };
  return new ForwardedPort(await openWebSocket(client.transport, { path, query, protocol: PROTOCOL }, signal));
}

/** One forwarded port: channel 0 is the data, channel 1 what went wrong; each begins with the number of the port. */
class ForwardedPort extends Duplex {
  readonly #messages: Duplex;
  readonly #begun = new Set<number>();
  #trouble = "";

  constructor(messages: Duplex) {
    super({ allowHalfOpen: false });
    this.#messages = messages;
    messages.on("data", (message: Buffer) => this.#take(message));
    messages.on("error", (error) => this.destroy(error));
    messages.on("end", () => this.#ended());
    messages.on("close", () => this.#ended());
  }

  override _read(): void {
    this.#messages.resume();
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#messages.write(Buffer.concat([Buffer.from([0]), chunk]), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#messages.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#messages.destroy();
    done(error);
  }

  #take(message: Buffer): void {
    const channel = message[0] ?? 0;
    let data = message.subarray(1);
    if (data.length === 0) return;
    if (!this.#begun.has(channel)) {
      this.#begun.add(channel);
      data = data.subarray(2);
      if (data.length === 0) return;
    }
    if (channel === 0) {
      if (!this.push(data)) this.#messages.pause();
    } else this.#trouble = (this.#trouble + data.toString("utf8")).slice(0, OUTPUT_LIMIT);
  }

  #ended(): void {
    if (this.destroyed || this.readableEnded) return;
    if (this.#trouble === "") this.push(null);
    else this.destroy(new Error(this.#trouble.trim()));
  }
}

/**
 * Runs a program in a container with `input` as its standard input; throws its last line of output when it fails. The end of `input` is not
 * signalled, so the program must know when to stop reading.
 */
export async function execInPod(
  client: Client,
  { namespace, name, container }: PodAddress,
  command: readonly string[],
  input: Readable,
  signal?: AbortSignal,
): Promise<void> {
  const path = resourcePath(Pod, namespace, name, "exec");
  const query = {
    command: [...command],
    stdin: "true",
    stdout: "true",
    stderr: "true",
    ...(container === undefined ? {} : { container }),
  };
  const messages = await openWebSocket(client.transport, { path, query, protocol: PROTOCOL }, signal);
  const abort = (): void => void messages.destroy(new Error("given up"));
  signal?.addEventListener("abort", abort, { once: true });
  try {
    const [result] = await Promise.all([resultOf(messages), feed(input, messages)]);
    const status = JSON.parse(result.text === "" ? "{}" : result.text) as { status?: string; message?: string };
    if (status.status === "Success") return;
    const said = result.output.trim().split("\n").at(-1) ?? "";
    throw new Error(`${status.message ?? "the connection was closed early"}${said === "" ? "" : `: ${said}`}`);
  } finally {
    signal?.removeEventListener("abort", abort);
    messages.destroy();
  }
}

/** Waits until the program exits; returns its standard error and the exit status from the kubelet. */
function resultOf(messages: Duplex): Promise<{ text: string; output: string }> {
  return new Promise((resolve, reject) => {
    const result = { text: "", output: "" };
    messages.on("data", (message: Buffer) => {
      const text = message.subarray(1).toString("utf8");
      if (message[0] === RESULT) result.text += text;
      if (message[0] === STDERR) result.output = (result.output + text).slice(-OUTPUT_LIMIT);
      // Nothing follows it, and not every server closes the stream then.
      if (message[0] === RESULT && text !== "") resolve(result);
    });
    messages.on("error", reject);
    messages.on("end", () => resolve(result));
    messages.on("close", () => resolve(result));
  });
}

async function feed(input: Readable, messages: Duplex): Promise<void> {
  for await (const part of input as AsyncIterable<Buffer>)
    for (let from = 0; from < part.length; from += CHUNK) {
      // A program that failed reads no more: its result says why.
      if (messages.destroyed || messages.readableEnded) return;
      const message = Buffer.concat([Buffer.from([STDIN]), part.subarray(from, from + CHUNK)]);
      if (!messages.write(message)) await drained(messages);
    }
}

function drained(messages: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      for (const event of ["drain", "close", "end"]) messages.off(event, go);
      resolve();
    };
    for (const event of ["drain", "close", "end"]) messages.once(event, go);
  });
}
