import fc from "fast-check";
import { expect, test } from "vitest";
import { addFiles } from "./add-files.ts";
import { bytesContent, type MediaContent, patchedContent, readAll } from "./content.ts";
import { buildIso } from "./iso9660.ts";
import { readIso } from "./testing/iso-reader.ts";

const files = (tree: Record<string, string>): Map<string, Uint8Array> =>
  new Map(Object.entries(tree).map(([path, text]) => [path, Buffer.from(text, "latin1")]));
const OLD = { "boot/kernel": "k".repeat(5000), "live/root.img": "r".repeat(3000), readme: "hello" };
const NEW = { "openstack/latest/meta_data.json": "{}", "openstack/latest/user_data": "u".repeat(2500) };

test("adds files next to the existing ones, with Rock Ridge and Joliet names, and moves nothing", async () => {
  const base = buildIso({ label: "LIVE", files: files(OLD), nowMs: 0 });
  const made = await addFiles(bytesContent(base), files(NEW));
  const image = await readAll(made, 0, made.size);
  const expected = new Map(Object.entries({ ...OLD, ...NEW }));
  expect(readIso(image, false)).toEqual(expected);
  expect(readIso(image, true)).toEqual(expected);
  const differs = [...base.keys()].filter((at) => base[at] !== image[at]);
  expect(
    differs.every((at) => at >= 16 * 2048 && at < 18 * 2048),
    "only the descriptors change",
  ).toBe(true);
  expect((await addFiles(bytesContent(base), files(NEW))).id).toBe(made.id);
});

test("replaces a folder of the same name, whose data would be another host's", async () => {
  const base = buildIso({ label: "LIVE", files: files({ "openstack/latest/user_data": "old", a: "1" }), nowMs: 0 });
  const made = await addFiles(bytesContent(base), files(NEW));
  expect(readIso(await readAll(made, 0, made.size), false)).toEqual(new Map(Object.entries({ a: "1", ...NEW })));
});

test("rejects data that is not an image", async () => {
  await expect(addFiles(bytesContent(Buffer.alloc(100_000)), files(NEW))).rejects.toThrow("not an ISO 9660 image");
});

test.each([
  ["claims an enormous size", (image: Buffer) => image.writeUInt32LE(0xffff_ffff, 16 * 2048 + 166)],
  ["lies beyond the image", (image: Buffer) => image.writeUInt32LE(0x00ff_ffff, 16 * 2048 + 158)],
  ["has records of a byte", (image: Buffer) => image.fill(1, rootOf(image), rootOf(image) + 64)],
])("rejects an image whose root folder %s, reading little of it", async (_what, spoil) => {
  const image = Buffer.from(buildIso({ label: "LIVE", files: files(OLD), nowMs: 0 }));
  spoil(image);
  const content = bytesContent(image);
  let read = 0;
  const counted: MediaContent = {
    ...content,
    size: 2 ** 40,
    async *read(from, to) {
      read += to - from;
      yield* content.read(from, to);
    },
  };
  await expect(addFiles(counted, files(NEW))).rejects.toThrow(/root folder|bytes at/);
  expect(read).toBeLessThan(1024 * 1024);
});

const rootOf = (image: Buffer): number => image.readUInt32LE(16 * 2048 + 158) * 2048;

test("reads any range of patched bytes as that range of the whole", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 60 }),
      fc.array(fc.tuple(fc.nat(50), fc.uint8Array({ minLength: 1, maxLength: 9 })), { maxLength: 4 }),
      fc.nat(70),
      fc.nat(70),
      async (base, raw, a, b) => {
        let end = 0;
        const patches = raw
          .sort(([x], [y]) => x - y)
          .flatMap(([at, bytes]) => {
            const start = Math.max(at, end);
            if (start > base.length) return [];
            end = start + bytes.length;
            return [{ at: start, bytes }];
          });
        const content = patchedContent(bytesContent(base), patches);
        const whole = Buffer.alloc(content.size);
        whole.set(base);
        for (const { at, bytes } of patches) whole.set(bytes, at);
        const [from, to] = [Math.min(a, b, content.size), Math.min(Math.max(a, b), content.size)];
        expect(await readAll(content, from, to)).toEqual(whole.subarray(from, to));
      },
    ),
    { numRuns: 200 },
  );
});

test("stops reading an image when the signal aborts", async () => {
  const stop = new AbortController();
  const slow: MediaContent = {
    size: 1024 ** 3,
    id: "slow",
    async *read(_from, _to, signal) {
      await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      yield Buffer.alloc(0);
    },
  };
  const adding = addFiles(slow, files(NEW), stop.signal);
  stop.abort(new Error("too slow"));
  await expect(adding).rejects.toThrow("too slow");
});
