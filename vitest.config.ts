import { existsSync, readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { SlowFirst } from "./tools/test/slow-first.ts";

const sourceOf = (built: string): string => built.replace("./dist/", "src/").replace(/\.js$/, ".ts");

/** Workspace packages resolve to their sources, so that tests never run against a stale build. */
const alias = ["packages", "providers"].flatMap((folder) =>
  readdirSync(folder).flatMap((name) => {
    const manifest = `${folder}/${name}/package.json`;
    if (!existsSync(manifest)) return [];
    const exports: Record<string, { default: string }> = JSON.parse(readFileSync(manifest, "utf8")).exports ?? {};
    const pkg: string = JSON.parse(readFileSync(manifest, "utf8")).name;
    return Object.entries(exports).map(([entry, target]) => {
      const sub = entry === "." ? "" : entry.slice(1);
      return {
        find: new RegExp(`^${pkg}${sub}$`),
        replacement: new URL(`./${folder}/${name}/${sourceOf(target.default)}`, import.meta.url).pathname,
      };
    });
  }),
);

export default defineConfig({
  resolve: { alias },
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "providers/*/src/**/*.test.ts",
      "tests/{cli,docs,provider,security,simulation,upgrade}/**/*.test.ts",
      "tools/*/*.test.{js,ts}",
    ],
    pool: "forks",
    // Loading the modules anew for each of the files took a third of the time; no test replaces a module or leaves something behind.
    isolate: false,
    // The process that transforms modules is idle for most of the time, so every processor gets a worker; the default keeps one free.
    maxWorkers: "100%",
    sequence: { sequencer: SlowFirst },
    setupFiles: ["./tools/test/setup.ts"],
    testTimeout: 20_000,
    reporters: ["default", "./tools/test/plain-reporter.ts"],
  },
});
