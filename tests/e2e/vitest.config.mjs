import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** Real machines: minutes instead of milliseconds, and one file at a time since each needs the whole machine. */
export default defineConfig({
  resolve: workspace.resolve,
  test: {
    include: ["tests/e2e/**/*.test.ts"],
    globalSetup: ["tests/e2e/setup.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Steps of one story: after a failed one the rest has no ground to stand on.
    bail: 1,
    reporters: ["verbose", "./tools/test/plain-reporter.ts"],
    disableConsoleIntercept: true,
  },
});
