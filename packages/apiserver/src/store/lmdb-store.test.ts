import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openLmdbStore } from "./lmdb-store.ts";
import { storeSuite } from "./testing/store-suite.ts";

const root = mkdtempSync(join(tmpdir(), "capstan-store-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

storeSuite(
  "openLmdbStore",
  async () => {
    const directory = mkdtempSync(join(root, "s-"));
    return { store: await openLmdbStore(directory), reopen: () => openLmdbStore(directory) };
  },
  10,
);
