import { appendFileSync, existsSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import { ConfigMap } from "@capstan/capi";
import type { Client, Logger } from "@capstan/runtime";
import { hostLogName } from "../protocol.ts";

/** A ConfigMap holds a mebibyte; the newest part is what matters. */
const MAX_TEXT = 512 * 1024;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const PAUSE_MS = 2_000;

/** Records every command run on a host with its output, without secrets: in a local file, and in a ConfigMap for `capstan host logs`. */
export class HostLog {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #send: (text: string) => Promise<unknown>;
  #text: string;
  #due = false;
  #sending: Promise<void> = Promise.resolve();

  constructor(options: { stateDir: string; clock: Clock; log: Logger; send: (text: string) => Promise<unknown> }) {
    this.#file = join(options.stateDir, "bootstrap.log");
    this.#clock = options.clock;
    this.#log = options.log;
    this.#send = options.send;
    this.#text = existsSync(this.#file) ? readFileSync(this.#file, "utf8").slice(-MAX_TEXT) : "";
  }

  /** Adds text; it is sent soon. */
  readonly write = (text: string): void => {
    const line = text.endsWith("\n") ? text : `${text}\n`;
    this.#text = (this.#text + line).slice(-MAX_TEXT);
    try {
      if (existsSync(this.#file) && statSync(this.#file).size > MAX_FILE_BYTES)
        renameSync(this.#file, `${this.#file}.old`);
      appendFileSync(this.#file, line, { mode: 0o600 });
    } catch {
      // A full disk must not stop the agent, which reports it.
    }
    if (this.#due) return;
    this.#due = true;
    this.#clock.after(PAUSE_MS, () => void this.flush());
  };

  /** Sends what was not sent yet. */
  async flush(): Promise<void> {
    if (!this.#due) return await this.#sending;
    this.#due = false;
    this.#sending = this.#sending
      .then(() => this.#send(this.#text))
      .then(
        () => undefined,
        (error: unknown) => this.#log.warn("failed to send the log; it is kept in the state folder", { error }),
      );
    await this.#sending;
  }
}

/** Writes a host's log to the ConfigMap that `capstan host logs` reads. */
export function sendLog(client: Client, namespace: string, name: string): (text: string) => Promise<unknown> {
  return (text) => client.patch({ kind: ConfigMap, namespace, name: hostLogName(name) }, { data: { log: text } });
}
