import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** Our server and real Kubernetes side by side, in real time. */
export default defineConfig({
  resolve: workspace.resolve,
  test: {
    include: ["tests/conformance/**/*.test.ts", "tests/kubectl/**/*.test.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ["default", "./tools/test/plain-reporter.ts"],
    disableConsoleIntercept: true,
  },
});
