import { defineConfig } from "vitest/config";

/** A real browser and a real server: one file at a time, each a story of its own. */
export default defineConfig({
  test: {
    include: ["tests/browser/**/*.test.ts"],
    pool: "forks",
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    bail: process.env["BROWSER_BAIL"] === "0" ? 0 : 1,
    reporters: ["verbose", "./tools/test/plain-reporter.ts"],
  },
});
