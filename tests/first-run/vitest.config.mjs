import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** `npm run first-run`: a fresh clone and the README. Not part of `npm test`, because it installs all packages from scratch. */
export default defineConfig({
  resolve: workspace.resolve,
  test: {
    include: ["tests/first-run/**/*.test.ts"],
    pool: "forks",
    testTimeout: 600_000,
    hookTimeout: 60_000,
    disableConsoleIntercept: true,
    reporters: ["default", fileURLToPath(new URL("../../tools/test/plain-reporter.ts", import.meta.url))],
  },
});
