import { existsSync } from "node:fs";
// oxlint-disable-next-line capstan/no-ambient-imports -- it finds a file and loads nothing
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { Clock } from "../clock.ts";
import { tooManyRequests } from "../errors.ts";
import { parseStrictYaml, StrictYamlError } from "../strict-yaml.ts";
import { parseYaml, parseYamlDocuments } from "../yaml.ts";
import { ForeignDocumentError, yieldToEventLoop } from "./bounded.ts";

// Plain text, because a worker's file would have to exist next to sources and build output alike.
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { library, text, to, maxLength } = workerData;
import(library).then(({ parseStrictYaml, parseYaml, parseYamlDocuments, toGoYaml }) => {
  const strict = () => {
    try {
      return { value: parseStrictYaml(text) };
    } catch (error) {
      if (error.name !== "StrictYamlError") throw error;
      return { refused: error.message };
    }
  };
  const made = {
    strict: () => JSON.stringify(strict()),
    json: () => JSON.stringify(parseYaml(text)),
    documents: () => JSON.stringify(parseYamlDocuments(text)),
    yaml: () => toGoYaml(JSON.parse(text)),
  };
  const result = made[to]();
  if (result.length > maxLength) throw new Error("yaml: the aliases of the document make it too large");
  parentPort.postMessage({ text: result });
}).catch((error) => {
  parentPort.postMessage({ error: String(error && error.message || error) });
});
`;

type Form = "json" | "documents" | "strict" | "yaml";

/** The module that reads YAML: next to a bundled program, else in the package. */
function yamlLibrary(): string {
  const bundled = new URL("./yaml-library.js", import.meta.url);
  if (existsSync(fileURLToPath(bundled))) return bundled.href;
  // Of the package only this: each thread has to load it again.
  const index = pathToFileURL(createRequire(import.meta.url).resolve("@capstan/apimachinery"));
  return new URL("./yaml-library.js", index).href;
}

/** Threads that work at the same time, and how many may wait for one. */
class Lane {
  readonly #maxWorkers: number;
  readonly #maxWaiting: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(maxWorkers: number, maxWaiting: number) {
    this.#maxWorkers = maxWorkers;
    this.#maxWaiting = maxWaiting;
  }

  async run(job: () => Promise<string>): Promise<string> {
    if (this.#waiting.length >= this.#maxWaiting)
      throw tooManyRequests("too many large YAML documents at the same time, please try again later or use JSON", 5);
    if (this.#running < this.#maxWorkers) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await job();
    } finally {
      // The place goes straight to the next one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** Requests: more threads would only take memory and processors from the other requests; each that waits may have some megabytes. */
const requests = new Lane(2, 32);
/** Documents of controllers. They are in memory anyway, so that any number may wait; requests do not wait for them. */
const background = new Lane(1, Number.POSITIVE_INFINITY);

/** Parsing YAML takes up to 5 ms per KiB: larger documents must not hold up other work. */
export const YAML_IN_WORKER_BYTES = 8 * 1024;
/** The largest honest request takes some fifteen seconds on a slow machine. */
export const YAML_DEADLINE_MS = 20_000;

/** A document that takes longer to parse than a thread may be occupied. */
export class YamlTooSlow extends Error {}

/** Reads a large YAML text of a request in a thread, so that other requests continue; returns its JSON. Fails with YamlTooSlow after a while. */
export function yamlToJson(text: string, clock: Clock): Promise<string> {
  return requests.run(() => work(text, "json", clock));
}

/** Writes a large object's JSON as YAML in a thread of its own. What is stored is bounded, and so is the time this takes. */
export function jsonToYaml(text: string): Promise<string> {
  return requests.run(() => work(text, "yaml", undefined));
}

/** Reads an untrusted YAML document: a large one in a thread; rejects one above `maxBytes`. */
export async function readForeignYaml(
  text: string,
  limits: { readonly clock: Clock; readonly maxBytes: number },
): Promise<unknown> {
  if (await isSmall(text, limits.maxBytes)) return parseYaml(text);
  return JSON.parse(await background.run(() => work(text, "json", limits.clock))) as unknown;
}

/** Reads a stream of untrusted YAML documents, as readForeignYaml does. */
export async function readForeignYamlDocuments(
  text: string,
  limits: { readonly clock: Clock; readonly maxBytes: number },
): Promise<unknown[]> {
  if (await isSmall(text, limits.maxBytes)) return parseYamlDocuments(text);
  return JSON.parse(await background.run(() => work(text, "documents", limits.clock))) as unknown[];
}

/** Reads a YAML document as parseStrictYaml does: a large one in a thread. Whatever keeps it from being read is a StrictYamlError. */
export async function readForeignStrictYaml(
  text: string,
  limits: { readonly clock: Clock; readonly maxBytes: number },
): Promise<unknown> {
  const tooMuch = (): never => {
    throw new StrictYamlError("is too much to be read; shorten or split it");
  };
  if (await isSmall(text, limits.maxBytes).catch(tooMuch)) return parseStrictYaml(text);
  const json = await background.run(() => work(text, "strict", limits.clock)).catch(tooMuch);
  const read = JSON.parse(json) as { value: unknown; refused?: string };
  if (read.refused !== undefined) throw new StrictYamlError(read.refused);
  return read.value;
}

/** Bytes parsed since the last yield: many small documents take as long as a large one. */
let sinceTurn = 0;

async function isSmall(text: string, maxBytes: number): Promise<boolean> {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes)
    throw new ForeignDocumentError(`the document has ${bytes} bytes, more than the ${maxBytes} that are read`);
  if (bytes > YAML_IN_WORKER_BYTES) return false;
  sinceTurn += bytes;
  if (sinceTurn > YAML_IN_WORKER_BYTES) {
    await yieldToEventLoop();
    sinceTurn = 0;
  }
  return true;
}

/** JSON is longer than YAML by its quotes and commas; by more only where aliases repeat things, and whoever asked parses it. */
const MAX_GROWTH = 8;
const MIN_LENGTH = 64 * 1024;

function work(text: string, to: Form, clock: Clock | undefined): Promise<string> {
  const library = yamlLibrary();
  const maxLength = to === "yaml" ? Number.POSITIVE_INFINITY : Math.max(MIN_LENGTH, text.length * MAX_GROWTH);
  return new Promise((resolve, reject) => {
    const worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { library, text, to, maxLength },
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    const cancel = clock?.after(YAML_DEADLINE_MS, () => {
      reject(new YamlTooSlow(`reading the YAML took longer than ${YAML_DEADLINE_MS / 1000} s: send JSON, or split it`));
      void worker.terminate();
    });
    worker.once("message", (message: { text?: string; error?: string }) => {
      if (message.error !== undefined) reject(new Error(message.error));
      else resolve(message.text ?? "null");
      void worker.terminate();
    });
    worker.once("error", () => reject(new Error("yaml: the document is too large to be parsed")));
    worker.once("exit", () => {
      cancel?.();
      reject(new Error("yaml: the document could not be parsed"));
    });
  });
}
