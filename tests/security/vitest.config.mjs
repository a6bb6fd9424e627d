import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** @param {string} name */
const tool = (name) => new URL(`../../tools/test/${name}`, import.meta.url).pathname;

/**
 * `npm run security`: every attack of the threat model end to end, with real components where an attack needs them.
 * Files named `*.test.ts` need only npm packages and run in `npm test` too; those named `*.attack.ts` need root,
 * Kubernetes programs or Go, and run only here.
 */
export default defineConfig({
  resolve: workspace.resolve,
  test: {
    include: ["tests/security/**/*.test.ts", "tests/security/**/*.attack.ts"],
    pool: "forks",
    setupFiles: [tool("setup.ts")],
    testTimeout: 60_000,
    hookTimeout: 180_000,
    reporters: ["default", tool("plain-reporter.ts")],
  },
});
