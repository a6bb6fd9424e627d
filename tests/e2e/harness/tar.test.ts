import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { mustRun } from "../../real-kubernetes/index.ts";
import { writeTar } from "./tar.ts";

const dir = mkdtempSync(join(tmpdir(), "capstan-tar-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("the system's tar reads names, kinds, modes, owners and contents back", async () => {
  const source = join(dir, "source");
  writeFileSync(source, "x".repeat(1000));
  const archive = join(dir, "a.tar");
  const digest = createHash("sha256");
  writeTar(
    archive,
    [
      { path: "etc", directory: true },
      { path: "etc/motd", content: "hello\n" },
      { path: "bin", link: "usr/bin" },
      { path: "tmp", directory: true, mode: 0o1777 },
      { path: "program", file: source, size: 1000, mode: 0o755 },
    ],
    (bytes) => digest.update(bytes),
  );
  const listing = await mustRun("tar", ["--list", "--verbose", "--utc", "--file", archive]);
  expect(listing.replace(/ +/g, " ").trim().split("\n")).toEqual([
    "drwxr-xr-x root/root 0 1970-01-01 00:00 etc/",
    "-rw-r--r-- root/root 6 1970-01-01 00:00 etc/motd",
    "lrwxrwxrwx root/root 0 1970-01-01 00:00 bin -> usr/bin",
    "drwxrwxrwt root/root 0 1970-01-01 00:00 tmp/",
    "-rwxr-xr-x root/root 1000 1970-01-01 00:00 program",
  ]);
  await mustRun("tar", ["--extract", "--directory", dir, "--file", archive, "etc/motd", "program"]);
  expect(readFileSync(join(dir, "etc/motd"), "utf8")).toBe("hello\n");
  expect(readFileSync(join(dir, "program"), "utf8")).toBe("x".repeat(1000));
  expect(digest.digest("hex")).toBe(createHash("sha256").update(readFileSync(archive)).digest("hex"));
});

test("a name that does not fit is refused instead of cut", () => {
  expect(() => writeTar(join(dir, "b.tar"), [{ path: "n".repeat(101), content: "" }])).toThrow("100 bytes");
});
