import { existsSync } from "node:fs";
// oxlint-disable-next-line capstan/no-ambient-imports -- it finds a file and loads nothing
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

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
let running = 0;
const waiting: (() => void)[] = [];

/** Reads a large YAML text in a thread of its own, so that other requests go on; gives its JSON. */
export function yamlToJson(text: string): Promise<string> {
  return inTurn(() => work(text, "json"));
}

/** Writes a large object's JSON as YAML in a thread of its own. */
export function jsonToYaml(text: string): Promise<string> {
  return inTurn(() => work(text, "yaml"));
}

async function inTurn(job: () => Promise<string>): Promise<string> {
  if (running >= MAX_WORKERS) await new Promise<void>((resolve) => waiting.push(resolve));
  running++;
  try {
    return await job();
  } finally {
    running--;
    waiting.shift()?.();
  }
}

function work(text: string, to: "json" | "yaml"): Promise<string> {
  const library = yamlLibrary();
  return new Promise((resolve, reject) => {
    const worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { library, text, to },
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    worker.once("message", (message: { text?: string; error?: string }) => {
      if (message.error !== undefined) reject(new Error(message.error));
      else resolve(message.text ?? "null");
      void worker.terminate();
    });
    worker.once("error", () => reject(new Error("yaml: the document is too large to be parsed")));
  });
}
