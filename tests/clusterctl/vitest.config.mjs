import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** Unmodified clusterctl in front of our API, in real time. */
export default defineConfig({
  resolve: workspace.resolve,
  test: {
    include: ["tests/clusterctl/**/*.test.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ["default", "./tools/test/plain-reporter.ts"],
  },
});
