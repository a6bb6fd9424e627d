import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** `npx vitest run --config tests/cloud-init/vitest.config.mjs`: our user data read by real cloud-init. Not part of `npm test`. */
export default defineConfig({
  resolve: workspace.resolve,
  test: {
    include: ["tests/cloud-init/**/*.test.ts"],
    pool: "forks",
    testTimeout: 120_000,
    hookTimeout: 600_000,
    reporters: ["default", "./tools/test/plain-reporter.ts"],
  },
});
