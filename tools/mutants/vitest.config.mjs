/** For the instrumented copy: one worker, whose runner (runner.mjs) decides what it runs. */
import { fileURLToPath } from "node:url";
import { mergeConfig } from "vitest/config";
import base from "../../vitest.config.ts";

const config = mergeConfig(base, {
  test: {
    maxWorkers: 1,
    runner: fileURLToPath(new URL("runner.mjs", import.meta.url)),
    dangerouslyIgnoreUnhandledErrors: true,
    silent: true,
  },
});
config.test.include = ["tools/mutants/start.mutants.js"];
config.test.reporters = ["dot"];
export default config;
