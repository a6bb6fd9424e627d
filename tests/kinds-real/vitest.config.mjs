import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** `npx vitest run --config tests/kinds-real/vitest.config.mjs`: our kinds on real Kubernetes and embedded, compared. */
export default defineConfig({
  resolve: workspace.resolve,
  test: {
    include: ["tests/kinds-real/**/*.test.ts"],
    pool: "forks",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default", "./tools/test/plain-reporter.ts"],
  },
});
