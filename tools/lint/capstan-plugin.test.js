import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SOCKET_TIMERS } from "./socket-timers.js";
import { WORDING } from "./wording.js";

/** The project's own configuration, run by the real oxlint over small files that lie where library code lies. */
const root = fileURLToPath(new URL("../../", import.meta.url));

/** Ways to real time, timers and chance, and the rule that sees each. */
const FORBIDDEN = [
  ["bare-date", "export const x = new Date();", "capstan(no-bare-date)"],
  ["bare-date-no-call", "export const x = new Date;", "capstan(no-bare-date)"],
  ["date-call", "export const x = Date();", "capstan(no-bare-date)"],
  ["date-now", "export const x = Date.now();", "capstan(no-ambient-members)"],
  ["date-now-quoted", 'export const x = Date["now"]();', "capstan(no-ambient-members)"],
  ["date-now-value", "export const x = [1].map(Date.now);", "capstan(no-ambient-members)"],
  ["date-apart", "const { now } = Date;\nexport const x = now();", "capstan(no-ambient-members)"],
  ["date-alias", "const D = Date;\nexport const x = D.now();", "capstan(no-ambient-members)"],
  ["date-default", "export const x = (D = Date): number => D.now();", "capstan(no-ambient-members)"],
  ["wording-string", 'export const x = "the problem is told";', "capstan(wording)"],
  ["wording-template", "export const x = (n: number) => `member ${n} goes on`;", "capstan(wording)"],
  ["wording-upper-case", 'export const x = "Anew";', "capstan(wording)"],
  [
    "wording-test-name",
    'import { test } from "vitest";\ntest("a host is looked at again", () => {});',
    "capstan(wording)",
  ],
  ["private-field", "export class C {\n  private x = 1;\n}", "capstan(no-private-keyword)"],
  ["private-method", "export class C {\n  private static x() {}\n}", "capstan(no-private-keyword)"],
  ["random", "export const x = Math.random();", "capstan(no-ambient-members)"],
  ["random-apart", "const { floor, random: r } = Math;\nexport const x = floor(r());", "capstan(no-ambient-members)"],
  ["computed", 'const k = "random" as const;\nexport const x = Math[k]();', "capstan(no-ambient-members)"],
  ["hrtime", "export const x = process.hrtime.bigint();", "capstan(no-ambient-members)"],
  ["uptime", "export const x = process.uptime();", "capstan(no-ambient-members)"],
  ["builtin", 'export const x = process.getBuiltinModule("node:timers");', "capstan(no-ambient-members)"],
  ["performance", "export const x = performance.now();", "eslint(no-restricted-globals)"],
  ["time-origin", "export const x = performance.timeOrigin;", "eslint(no-restricted-globals)"],
  ["abort-signal", "export const x = AbortSignal.timeout(5);", "capstan(no-ambient-members)"],
  ["atomics", "export const x = (a: Int32Array) => Atomics.wait(a, 0, 0, 5);", "capstan(no-ambient-members)"],
  ["set-timeout", "export const x = setTimeout(() => undefined, 5);", "eslint(no-restricted-globals)"],
  ["set-immediate", "export const x = setImmediate(() => undefined);", "eslint(no-restricted-globals)"],
  ["timer-value", "export const x = { wait: setTimeout };", "eslint(no-restricted-globals)"],
  ["global-this", "export const x = globalThis.setTimeout(() => undefined, 5);", "eslint(no-restricted-globals)"],
  ["global-quoted", 'export const x = globalThis["Date"].now();', "eslint(no-restricted-globals)"],
  [
    "global-apart",
    "const { setTimeout: later } = globalThis;\nexport const x = later;",
    "eslint(no-restricted-globals)",
  ],
  ["global", "export const x = global.performance.now();", "eslint(no-restricted-globals)"],
  ["require", 'export const x = require("node:timers");', "eslint(no-restricted-globals)"],
  ["uuid", "export const x = crypto.randomUUID();", "eslint(no-restricted-globals)"],
  ["values", "export const x = crypto.getRandomValues(new Uint8Array(1));", "eslint(no-restricted-globals)"],
  [
    "import-bytes",
    'import { randomBytes } from "node:crypto";\nexport const x = randomBytes(1);',
    "capstan(no-ambient-imports)",
  ],
  ["import-renamed", 'import { randomInt as r } from "crypto";\nexport const x = r(1);', "capstan(no-ambient-imports)"],
  [
    "import-web",
    'import { getRandomValues } from "node:crypto";\nexport const x = getRandomValues;',
    "capstan(no-ambient-imports)",
  ],
  ["import-crypto", 'import * as c from "node:crypto";\nexport const x = c;', "capstan(no-ambient-imports)"],
  ["import-default", 'import c from "node:crypto";\nexport const x = c;', "capstan(no-ambient-imports)"],
  [
    "import-timers",
    'import { setTimeout } from "node:timers/promises";\nexport const x = setTimeout;',
    "capstan(no-ambient-imports)",
  ],
  [
    "import-timers-bare",
    'import { setInterval } from "timers";\nexport const x = setInterval;',
    "capstan(no-ambient-imports)",
  ],
  [
    "import-perf",
    'import { performance as p } from "node:perf_hooks";\nexport const x = p;',
    "capstan(no-ambient-imports)",
  ],
  ["import-process", 'import { hrtime } from "node:process";\nexport const x = hrtime;', "capstan(no-ambient-imports)"],
  ["import-process-all", 'import p from "node:process";\nexport const x = p.hrtime;', "capstan(no-ambient-imports)"],
  ["import-os", 'import { uptime } from "node:os";\nexport const x = uptime;', "capstan(no-ambient-imports)"],
  [
    "import-require",
    'import { createRequire } from "node:module";\nexport const x = createRequire;',
    "capstan(no-ambient-imports)",
  ],
  ["import-late", 'export const x = import("node:timers/promises");', "capstan(no-ambient-imports)"],
  ["export-from", 'export { randomUUID } from "node:crypto";', "capstan(no-ambient-imports)"],
  ["export-all", 'export * from "node:timers";', "capstan(no-ambient-imports)"],
  [
    "socket",
    'import { connect } from "node:net";\nexport const x = connect(1).setTimeout(5);',
    "capstan(no-hidden-timers)",
  ],
  ["request", 'import { get } from "node:http";\nexport const x = get({ timeout: 5 });', "capstan(no-hidden-timers)"],
  [
    "exec",
    'import { execFile } from "node:child_process";\nexport const x = execFile("a", [], { timeout: 5 });',
    "capstan(no-hidden-timers)",
  ],
  [
    "agent",
    'export const x = import("undici").then(({ Agent }) => new Agent({ headersTimeout: 5 }));',
    "capstan(no-hidden-timers)",
  ],
  [
    "server",
    'import { createServer } from "node:http";\nconst s = createServer();\ns.requestTimeout = 5;\nexport { s };',
    "capstan(no-hidden-timers)",
  ],
  [
    "sync",
    "export const x = (db: { transactionSync(): void }) => db.transactionSync();",
    "capstan(no-sync-transaction)",
  ],
  ["sync-quoted", 'export const x = (db: { putSync(): void }) => db["putSync"]();', "capstan(no-sync-transaction)"],
];

/** What looks alike and is allowed. */
const ALLOWED = [
  ["date-of", 'export const x = (ms: number) => new Date(ms).toISOString() + Date.UTC(2020, 0) + Date.parse("");'],
  [
    "private-constructor",
    "export class C {\n  private constructor() {}\n  static make() {\n    return new C();\n  }\n}",
  ],
  ["math", "const { floor } = Math;\nexport const x = floor(Math.max(1, 2));"],
  [
    "hash",
    'import { createHash, type webcrypto } from "node:crypto";\nexport const x = createHash;\nexport type K = webcrypto.CryptoKey;',
  ],
  ["own-names", "export const x = (clock: { now(): number }) => ({ timeout: 5, at: clock.now() });"],
  ["off", 'import { connect } from "node:net";\nexport const x = connect(1).setTimeout(0);'],
  ["wording-part-of-word", 'export const x = "a renewed certificate untold";'],
  ["wording-comment", "// It is told anew.\nexport const x = 1;"],
  ["types", 'import type { Socket } from "node:net";\nexport const x = (s?: Socket) => ({ timeout: 5, s });'],
];

let dir;
let found;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "capstan-lint-"));
  const src = join(dir, "packages/any/src");
  mkdirSync(src, { recursive: true });
  const config = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8"));
  config.jsPlugins = [join(root, "tools/lint/capstan-plugin.js")];
  writeFileSync(join(dir, ".oxlintrc.json"), JSON.stringify(config));
  for (const [name, text] of [...FORBIDDEN, ...ALLOWED]) writeFileSync(join(src, `${name}.ts`), `${text}\n`);
  mkdirSync(join(dir, "tests/wording"), { recursive: true });
  for (const word of WORDING.keys())
    writeFileSync(join(dir, `tests/wording/${word.replaceAll(" ", "-")}.ts`), `export const x = "it ${word} here";\n`);
  for (const file of SOCKET_TIMERS.keys()) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), 'import { connect } from "node:net";\nexport const x = connect(1).setTimeout(5);\n');
  }
  const { stdout, stderr } = spawnSync(join(root, "node_modules/.bin/oxlint"), ["-f", "json", "."], { cwd: dir });
  expect(String(stderr)).toBe("");
  found = JSON.parse(String(stdout)).diagnostics.map(({ filename, code }) => ({ filename, code }));
}, 60_000);

afterAll(() => rmSync(dir, { recursive: true, force: true }));

const codesOf = (file) => found.filter(({ filename }) => filename === file).map(({ code }) => code);

test.each(FORBIDDEN)("%s is seen", (name, _text, code) => {
  expect(codesOf(`packages/any/src/${name}.ts`)).toContain(code);
});

test.each(ALLOWED)("%s is allowed", (name) => {
  expect(codesOf(`packages/any/src/${name}.ts`)).toEqual([]);
});

test.each([...SOCKET_TIMERS.keys()])("%s exists and may use a timer of its socket", (file) => {
  expect(existsSync(join(root, file))).toBe(true);
  expect(codesOf(file)).toEqual([]);
});

test("all words are seen", () => {
  expect(
    [...WORDING.keys()].filter((word) => !codesOf(`tests/wording/${word.replaceAll(" ", "-")}.ts`).length),
  ).toEqual([]);
});
