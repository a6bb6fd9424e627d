import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";

// Plain text, because a worker's file would have to exist next to sources and build output alike.
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
import(workerData.library).then(({ parseYaml }) => {
  parentPort.postMessage({ json: JSON.stringify(parseYaml(workerData.text)) });
}).catch((error) => {
  parentPort.postMessage({ error: String(error && error.message || error) });
});
`;

/** Parses a large YAML text in a thread of its own, so that other requests go on. */
export function parseYamlInWorker(text: string): Promise<unknown> {
  const library = pathToFileURL(createRequire(import.meta.url).resolve("@capstan/apimachinery")).href;
  return new Promise((resolve, reject) => {
    const worker = new Worker(PROGRAM, {
      eval: true,
      workerData: { library, text },
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    worker.once("message", (message: { json?: string; error?: string }) => {
      if (message.error !== undefined) reject(new Error(message.error));
      else resolve(message.json === undefined ? undefined : JSON.parse(message.json));
      void worker.terminate();
    });
    worker.once("error", () => reject(new Error("yaml: the document is too large to be parsed")));
  });
}
