import { mergeConfig } from "vitest/config";
import e2e from "../e2e/vitest.config.mjs";

/** Like the end-to-end suites, but apart from them: `npm run e2e -- all` builds two minor versions, the walk needs four. */
const merged = mergeConfig(e2e, {});
export default { ...merged, test: { ...merged.test, include: ["tests/walk/**/*.test.ts"] } };
