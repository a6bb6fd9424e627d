import { defineConfig } from "vitest/config";
import workspace from "../../vitest.config.ts";

/** `npm run cloud-init`: our user data read by real cloud-init. Not part of `npm test`. */
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
