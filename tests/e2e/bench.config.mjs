import { mergeConfig } from "vitest/config";
import e2e from "./vitest.config.mjs";

/** The parts of benches that need real machines; `npm run bench -- hosted` runs them. */
export default mergeConfig(e2e, { test: { include: ["tests/e2e/**/*.bench.ts"] } });
