import { defineConfig } from "vitest/config";

const root = new URL("../..", import.meta.url).pathname;
const source = (name: string, folder = ""): { find: RegExp; replacement: string } => ({
  find: new RegExp(`^@capstan/${name}${folder}$`),
  replacement: `${root}packages/${name}/src${folder}/index.ts`,
});

/** `npx vitest run --config tests/runtime-real/vitest.config.ts`: the runtime against real Kubernetes. Not part of `npm test`. */
export default defineConfig({
  resolve: { alias: [source("apimachinery"), source("pki"), source("runtime"), source("runtime", "/testing")] },
  test: {
    root,
    include: ["tests/runtime-real/**/*.test.ts"],
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 90_000,
    reporters: ["default", "./tools/test/plain-reporter.ts"],
  },
});
