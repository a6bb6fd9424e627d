import { createHash } from "node:crypto";
import { settle, VirtualClock } from "@capstan/apimachinery";
import { expect, test } from "vitest";
import { ImageChecks } from "./image-check.ts";
import type { StepResult } from "./provisioner.ts";

const IMAGE = Buffer.from("the image");
const digest = (algorithm: string): string => createHash(algorithm).update(IMAGE).digest("hex");
const { signal } = new AbortController();

function checks(files: Record<string, Uint8Array | Error>): {
  check(image: object): Promise<StepResult>;
  downloads: string[];
  clock: VirtualClock;
} {
  const downloads: string[] = [];
  const clock = new VirtualClock();
  const all = new ImageChecks(async (url) => {
    downloads.push(url);
    const file = files[url];
    if (file instanceof Error || file === undefined) throw file ?? new Error("404");
    return (async function* () {
      yield file.subarray(0, 3);
      yield file.subarray(3);
    })();
  }, clock);
  const check = async (image: object): Promise<StepResult> => {
    const whole = { url: "http://i/live.iso", ...image };
    all.check(whole, signal);
    await settle();
    return all.check(whole, signal);
  };
  return { check, downloads, clock };
}

test.each(["md5", "sha256", "sha512"])("a right %s digest passes, found by its length", async (algorithm) => {
  const { check } = checks({ "http://i/live.iso": IMAGE });
  expect(await check({ checksum: digest(algorithm) })).toMatchObject({ type: "done" });
  expect(await check({ checksum: digest(algorithm).toUpperCase(), checksumType: algorithm })).toMatchObject({
    type: "done",
  });
});

test("a wrong digest, another type or no digest at all fails for good", async () => {
  const { check } = checks({ "http://i/live.iso": IMAGE });
  for (const image of [
    { checksum: "0".repeat(64) },
    { checksum: digest("sha256"), checksumType: "md5" },
    { checksum: "hello" },
  ])
    expect(await check(image)).toMatchObject({ type: "failed", fatal: true });
});

test("an image is downloaded once for many hosts, and not at all without a checksum", async () => {
  const { check, downloads } = checks({ "http://i/live.iso": IMAGE });
  for (let count = 0; count < 5; count++) await check({ checksum: digest("sha256") });
  expect(downloads).toEqual(["http://i/live.iso"]);
  expect(await check({})).toMatchObject({ type: "done" });
});

test("a server that does not answer is tried again", async () => {
  const files: Record<string, Uint8Array | Error> = { "http://i/live.iso": new Error("connect ECONNREFUSED") };
  const { check, clock } = checks(files);
  const image = { checksum: digest("sha256") };
  const result = await check(image);
  expect(result).toMatchObject({
    type: "failed",
    message: "The image http://i/live.iso could not be checked: connect ECONNREFUSED",
  });
  expect(result).not.toHaveProperty("fatal");
  files["http://i/live.iso"] = IMAGE;
  await clock.advance(10_000);
  expect(await check(image)).toMatchObject({ type: "done" });
});

test("a file of checksums is read in its usual formats", async () => {
  const files = {
    "http://i/live.iso": IMAGE,
    "http://i/SHA256SUMS": Buffer.from(`${"1".repeat(64)}  other.iso\n${digest("sha256")} *live.iso\n`),
  };
  expect(await checks(files).check({ checksum: "http://i/SHA256SUMS" })).toMatchObject({ type: "done" });
});

test("what a server gives for a file of checksums is not in the error", async () => {
  const secret = "c0ffee".repeat(5);
  const { check } = checks({ "http://i/live.iso": IMAGE, "http://i/sums": Buffer.from(secret) });
  const short = await check({ checksum: "http://i/sums" });
  expect(short).toMatchObject({ type: "failed", fatal: true });
  expect(JSON.stringify(short)).not.toContain(secret);
  const other = checks({ "http://i/live.iso": IMAGE, "http://i/sums": Buffer.from("ab".repeat(32)) });
  const wrong = await other.check({ checksum: "http://i/sums" });
  expect(wrong).toMatchObject({ type: "failed", fatal: true });
  expect(JSON.stringify(wrong)).not.toContain("ab".repeat(32));
});

test("an image that no host asks for any more is not downloaded to its end", async () => {
  const clock = new VirtualClock();
  let chunks = 0;
  const all = new ImageChecks(
    async () =>
      (async function* () {
        for (; chunks < 100; chunks++) {
          await clock.advance(60_000);
          yield Buffer.from("x");
        }
      })(),
    clock,
  );
  all.check({ url: "http://i/live.iso", checksum: "0".repeat(64) }, signal);
  for (let i = 0; i < 200; i++) await settle();
  expect(chunks).toBeLessThan(20);
});
