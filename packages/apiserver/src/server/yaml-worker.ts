import { existsSync } from "node:fs";
// oxlint-disable-next-line capstan/no-ambient-imports -- it finds a file and loads nothing
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { type Clock, tooManyRequests } from "@capstan/apimachinery";

// Plain text, because a worker's file would have to exist next to sources and build output alike.
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const { library, text, to } = workerData;
import(library).then(({ parseYaml, toGoYaml }) => {
  parentPort.postMessage({ text: to === "json" ? JSON.stringify(parseYaml(text)) : toGoYaml(JSON.parse(text)) });
}).catch((error) => {
  parentPort.postMessage({ error: String(error && error.message || error) });
});
`;

/** The module that reads YAML: beside a bundled program, else the package. */
function yamlLibrary(): string {
  const beside = new URL("./yaml-library.js", import.meta.url);
  if (existsSync(fileURLToPath(beside))) return beside.href;
  return pathToFileURL(createRequire(import.meta.url).resolve("@capstan/apimachinery")).href;
}

/** Threads at the same time: more would only take memory and processors from the requests. */
const MAX_WORKERS = 2;
/** Documents that wait for a thread; each may have some megabytes. */
const MAX_WAITING = 32;
/** The largest honest document takes some fifteen seconds on a slow machine. */
export const YAML_DEADLINE_MS = 20_000;

let running = 0;
const waiting: (() => void)[] = [];

/** A document that takes longer to be read than anybody may keep a thread. */
export class YamlTooSlow extends Error {}

/** Reads a large YAML text in a thread of its own, so that other requests go on; gives its JSON. Fails with YamlTooSlow after a while. */
export function yamlToJson(text: string, clock: Clock): Promise<string> {
  return inTurn(() => work(text, "json", clock));
}

/** Writes a large object's JSON as YAML in a thread of its own. What is stored is bounded, and so is the time this takes. */
export function jsonToYaml(text: string): Promise<string> {
  return inTurn(() => work(text, "yaml", undefined));
}

async function inTurn(job: () => Promise<string>): Promise<string> {
  if (waiting.length >= MAX_WAITING)
    throw tooManyRequests("too many large YAML documents at the same time, please try again later or use JSON", 5);
  if (running < MAX_WORKERS) running++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await job();
  } finally {
    // The place goes straight to the next one.
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

function work(text: string, to: "json" | "yaml", clock: Clock | undefined): Promise<string> {
  const library = yamlLibrary();
  return new Promise((resolve, reject) => {
    const worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { library, text, to },
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
