import { type ChildProcess, spawn } from "node:child_process";
import { get } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { Agent, type RequestOptions, request } from "node:https";
import type { Stall } from "./stall-meter.ts";

const SERVER = new URL("./api-server.js", import.meta.url).pathname;

const STREAMS = 200;

/** How to reach a server process. */
interface Endpoint {
  port: number;
  stallsPort: number;
  caPem: string;
  certPem: string;
  keyPem: string;
}

/** An answer, or undefined when the connection broke. */
export interface Answer {
  status: number;
  body: string;
}

/** The HTTPS server in a process of its own, which can be killed and started again on the same data. */
export class ApiProcess {
  readonly #child: ChildProcess;
  readonly #agent: Agent;
  readonly #stallsPort: number;
  readonly #identity: { ca: string; cert: string; key: string };
  readonly port: number;

  private constructor(child: ChildProcess, endpoint: Endpoint) {
    this.#child = child;
    this.port = endpoint.port;
    this.#stallsPort = endpoint.stallsPort;
    this.#identity = { ca: endpoint.caPem, cert: endpoint.certPem, key: endpoint.keyPem };
    this.#agent = new Agent({ keepAlive: true, maxSockets: 64, ...this.#identity });
  }

  static start(directory: string, port = 0, history = 10_000): Promise<ApiProcess> {
    const child = spawn(process.execPath, [SERVER, directory, String(port), String(history)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    return new Promise((resolve, reject) => {
      let text = "";
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
      child.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const ready = /READY (.*)\n/.exec(text)?.[1];
        if (ready === undefined) return;
        child.removeAllListeners("exit");
        resolve(new ApiProcess(child, JSON.parse(ready) as Endpoint));
      });
    });
  }

  /** The longest stall of the server's event loop since the last call, in milliseconds. */
  async longestStall(): Promise<number> {
    return (await this.#stalls("/reset")).clockMs;
  }

  /** The longest stretch that the server's event loop spent on one thing during `work`. */
  async longestBlock(work: () => Promise<unknown>): Promise<Stall> {
    await this.#stalls("/start");
    await work();
    return this.#stalls("/stop");
  }

  #stalls(path: string): Promise<Stall> {
    return new Promise((resolve, reject) => {
      const call = get({ host: "127.0.0.1", port: this.#stallsPort, path }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on("end", () => resolve(JSON.parse(text) as Stall));
      });
      call.on("error", reject);
    });
  }

  running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  send(method: string, path: string, headers: Record<string, string>, body?: Buffer): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      // Without it node sends the body of a DELETE unframed.
      const framed = body === undefined ? headers : { ...headers, "content-length": String(body.length) };
      const call = request(this.#options(method, path, framed), (response) => {
        let text = "";
        response.setEncoding("latin1").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
        response.on("error", () => resolve(undefined));
      });
      call.setTimeout(20_000, () => call.destroy());
      call.on("error", () => resolve(undefined));
      call.end(body);
    });
  }

  json(method: string, path: string, body?: unknown): Promise<Answer | undefined> {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return this.send(method, path, { "content-type": "application/json" }, bytes);
  }

  /** Calls back with each line of a watch; resolves when the stream is over, or was cut by `signal`. */
  watch(path: string, onLine: (line: string) => void, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const call = request({ ...this.#options("GET", path, {}), agent: this.#agent }, (response) => {
        let rest = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          const lines = (rest + chunk).split("\n");
          rest = lines.pop() ?? "";
          for (const line of lines) onLine(line);
        });
        response.on("end", resolve);
        response.on("error", () => resolve());
        response.on("close", resolve);
      });
      call.on("error", () => resolve());
      signal?.addEventListener("abort", () => call.destroy(), { once: true });
      call.end();
    });
  }

  /** Opens many watches over a few HTTP/2 connections; resolves when all are accepted, with a function that closes them. */
  async watchMany(path: string, count: number): Promise<() => void> {
    const sessions: ClientHttp2Session[] = [];
    const accepted: Promise<void>[] = [];
    for (let i = 0; i < count; i++) {
      const session = i % STREAMS === 0 ? connect(`https://127.0.0.1:${this.port}`, this.#identity) : sessions.at(-1);
      if (session === undefined) break;
      if (i % STREAMS === 0) sessions.push(session.on("error", () => {}));
      const stream = session.request({ ":path": path });
      accepted.push(new Promise((resolve) => stream.on("response", () => resolve())));
      stream.on("error", () => {}).resume();
    }
    await Promise.all(accepted);
    return () => {
      for (const session of sessions) session.destroy();
    };
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill(signal);
    if (this.running()) await gone;
    this.#agent.destroy();
  }

  #options(method: string, path: string, headers: Record<string, string>): RequestOptions {
    return { host: "127.0.0.1", port: this.port, method, path, headers, agent: this.#agent };
  }
}
