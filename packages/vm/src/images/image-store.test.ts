import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { VirtualClock } from "@capstan/apimachinery";
import { FileServer, sha256 } from "@capstan/media/testing";
import { openDialGate, systemDialGate } from "@capstan/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ImageSource } from "./image-source.ts";
import { type ImageState, ImageStore, type ImageStoreOptions } from "./image-store.ts";

const RAW = Buffer.alloc(2048, "disk");
const HOUR_MS = 3_600_000;
let server: FileServer;
let folder: string;
let clock: VirtualClock;
let store: ImageStore;

function open(more: Partial<ImageStoreOptions> = {}): ImageStore {
  const root = join(folder, "images");
  store = new ImageStore({ root, clock, gate: openDialGate(), fileRoots: [join(folder, "allowed")], ...more });
  return store;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "capstan-vm-store-"));
  await mkdir(join(folder, "allowed"));
  clock = new VirtualClock();
  server = new FileServer();
  server.put("/disk.img", RAW);
  await server.open();
  open();
});

afterEach(async () => {
  await store.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const ofUrl = (path: string, checksum: string | undefined = sha256(RAW)): ImageSource => ({
  location: { type: "url", url: `${server.base}${path}` },
  format: "raw",
  checksum,
});
const ofFile = (path: string, checksum?: string): ImageSource => ({
  location: { type: "file", path },
  format: "raw",
  checksum,
});

/** What becomes of a request. */
async function outcome(source: ImageSource, of = store): Promise<ImageState> {
  const changed = new Promise<void>((resolve) => {
    const stop = of.subscribe(() => {
      stop();
      resolve();
    });
  });
  const first = await of.get(source);
  if (first.type !== "fetching") return first;
  await changed;
  return await of.get(source);
}

async function fileOf(source: ImageSource): Promise<string> {
  const state = await outcome(source);
  if (state.type !== "ready") throw new Error(JSON.stringify(state));
  return state.image.file;
}

describe("fetches an image", () => {
  test("once for many machines, and stores it read-only", async () => {
    const states = await Promise.all([
      outcome(ofUrl("/disk.img")),
      outcome(ofUrl("/disk.img")),
      store.get(ofUrl("/disk.img")),
    ]);
    expect(states[0]).toEqual(states[1]);
    const file = await fileOf(ofUrl("/disk.img"));
    expect((await readFile(file)).equals(RAW)).toBe(true);
    expect((await stat(file)).mode & 0o777).toBe(0o444);
    expect(server.asked.filter((line) => line.startsWith("/disk.img"))).toHaveLength(1);
    expect(await readdir(join(folder, "images"))).toHaveLength(1);
  });

  test("with SHA-512, and with a checksum file", async () => {
    await fileOf(ofUrl("/disk.img", createHash("sha512").update(RAW).digest("hex")));
    server.put("/SUMS", Buffer.from(`${sha256(RAW)}  disk.img\n`));
    await fileOf(ofUrl("/disk.img", `${server.base}/SUMS`));
  });

  test("that is compressed", async () => {
    const packed = gzipSync(RAW);
    server.put("/disk.img.gz", packed);
    expect((await readFile(await fileOf(ofUrl("/disk.img.gz", sha256(packed))))).equals(RAW)).toBe(true);
  });

  test("again after an interruption, from where it stopped", async () => {
    server.cuts.set("/disk.img", 1000);
    server.etags.set("/disk.img", '"1"');
    // The server ends the connection in the middle.
    const state = store.get(ofUrl("/disk.img"));
    const seen = await state;
    expect(seen.type).toBe("fetching");
    while ((await store.get(ofUrl("/disk.img"))).type === "fetching") {
      const now = await store.get(ofUrl("/disk.img"));
      if (now.type === "fetching" && now.received >= 1000) server.endConnection();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await store.get(ofUrl("/disk.img"))).toMatchObject({ type: "failed", failure: { reason: "unreachable" } });
    await clock.advance(30_000);
    await fileOf(ofUrl("/disk.img"));
    expect(server.asked.at(-1)).toContain("bytes=1000-");
  });

  test("of a file, and keeps what machines run on when the file is replaced", async () => {
    const path = join(folder, "allowed/disk.img");
    await writeFile(path, RAW);
    const first = await fileOf(ofFile(path, sha256(RAW)));
    await writeFile(path, Buffer.alloc(4096, "new"));
    const second = await fileOf(ofFile(path));
    expect(second).not.toBe(first);
    expect((await readFile(first)).equals(RAW)).toBe(true);
  });
});

describe("refuses", () => {
  const expectFailure = async (source: ImageSource, reason: string, text: string): Promise<void> => {
    expect(await outcome(source)).toMatchObject({
      type: "failed",
      failure: { reason, message: expect.stringContaining(text) },
    });
    expect((await readdir(join(folder, "images")).catch(() => [])).filter((name) => name.endsWith(".img"))).toEqual([]);
  };

  test("a wrong checksum, and fetches again only after a while", async () => {
    const source = ofUrl("/disk.img", sha256(Buffer.from("other")));
    await expectFailure(source, "checksum", "is not the expected");
    const asked = server.asked.length;
    expect((await store.get(source)).type).toBe("failed");
    expect(server.asked).toHaveLength(asked);
    await clock.advance(30_000);
    expect((await store.get(source)).type).toBe("fetching");
  });

  test("a URL without a checksum", () => expectFailure(ofUrl("/disk.img", ""), "checksum", "neither"));
  test("an image that does not exist", () => expectFailure(ofUrl("/none.img"), "missing", "404"));

  test("a format that is not the stated one", async () => {
    const qcow2 = Buffer.concat([Buffer.from("QFI\u00fb", "latin1"), Buffer.alloc(1020)]);
    server.put("/disk.qcow2", qcow2);
    await expectFailure(ofUrl("/disk.qcow2", sha256(qcow2)), "invalid", "the image is a qcow2 image, not raw");
  });

  test("a qcow2 with a backing file of its own", async () => {
    const recorded: Record<string, string> = JSON.parse(
      await readFile(new URL("../../testdata/images.json", import.meta.url), "utf8"),
    );
    const bytes = Buffer.from(recorded["overlay"] ?? "", "base64");
    expect(bytes.length).toBeGreaterThan(0);
    server.put("/disk.qcow2", bytes);
    const source: ImageSource = { ...ofUrl("/disk.qcow2", sha256(bytes)), format: "qcow2" };
    await expectFailure(source, "invalid", "backing file");
  });

  test("an archive that unpacks to more than is allowed", async () => {
    open({ maxBytes: 4096 });
    const packed = gzipSync(Buffer.alloc(1024 * 1024));
    server.put("/bomb.gz", packed);
    await expectFailure(ofUrl("/bomb.gz", sha256(packed)), "invalid", "unpacks to more than 4096 bytes");
  });

  test("an address that the dial gate refuses", async () => {
    open({ gate: systemDialGate() });
    await expectFailure(ofUrl("/disk.img"), "refused", "loopback");
    expect(server.asked).toEqual([]);
  });

  test.each([
    ["a file outside the allowed folders", "/etc/passwd"],
    ["a path with ..", "allowed/../secret.img"],
    ["a link that leads out of the allowed folders", "allowed/link.img"],
    ["a file next to an allowed folder", "allowed-not/disk.img"],
  ])("%s", async (_what, path) => {
    await writeFile(join(folder, "secret.img"), RAW);
    await mkdir(join(folder, "allowed-not"));
    await writeFile(join(folder, "allowed-not/disk.img"), RAW);
    await symlink(join(folder, "secret.img"), join(folder, "allowed/link.img"));
    await expectFailure(ofFile(path.startsWith("/") ? path : `${folder}/${path}`), "refused", "none of the folders");
  });
});

describe("evicts", () => {
  test("images that no disk is based on, an hour after they were requested", async () => {
    const used = await fileOf(ofUrl("/disk.img"));
    server.put("/other.img", RAW);
    const unused = await fileOf(ofUrl("/other.img"));
    expect(await store.evict(new Set([used]))).toEqual([]);
    await clock.advance(HOUR_MS);
    expect(await store.evict(new Set([used]))).toEqual([unused]);
    expect((await store.get(ofUrl("/disk.img"))).type).toBe("ready");
  });

  test("nothing while it is requested again and again", async () => {
    await fileOf(ofUrl("/disk.img"));
    await clock.advance(HOUR_MS - 1000);
    await store.get(ofUrl("/disk.img"));
    await clock.advance(HOUR_MS - 1000);
    expect(await store.evict(new Set())).toEqual([]);
  });
});

test("does not give an image to whoever only knows its checksum", async () => {
  await fileOf(ofUrl("/disk.img"));
  const elsewhere = ofUrl("/elsewhere.img");
  expect(await outcome(elsewhere)).toMatchObject({ type: "failed", failure: { reason: "missing" } });
});

test("reports a file that is cut off as no whole image", async () => {
  const path = join(folder, "allowed/disk.img");
  await writeFile(path, RAW);
  await truncate(path, 700);
  expect(await outcome(ofFile(path))).toMatchObject({ type: "failed", failure: { reason: "invalid" } });
});
