import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** `npx vitest run --config tests/byoh-real/vitest.config.mjs`: own hosts against real Kubernetes. Not part of `npm test`. */
export default defineConfig({
  resolve: workspace.resolve,
  test: {
    include: ["tests/byoh-real/**/*.test.ts"],
    pool: "forks",
    testTimeout: 90_000,
    hookTimeout: 180_000,
    reporters: ["default", "./tools/test/plain-reporter.ts"],
  },
});
