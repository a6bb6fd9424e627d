import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** `npx vitest run --config tests/pods-real/vitest.config.mjs`: control planes as pods, their objects on a real kube-apiserver. */
export default defineConfig({
  resolve: workspace.resolve,
  test: {
    include: ["tests/pods-real/**/*.test.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ["default", "./tools/test/plain-reporter.ts"],
  },
});
