import { chmod, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@capstan/apimachinery";
import type { DialGate } from "@capstan/apimachinery/foreign";
import {
  DownloadError,
  digestAlgorithm,
  digestOf,
  downloadFile,
  expectedDigest,
  Fetcher,
  httpDownload,
} from "@capstan/media";
import { syncDirectory } from "@capstan/os";
import { checkImage } from "../disks/image-header.ts";
import { allowedPath } from "../host/allowed-path.ts";
import { type ImageFailure, imageFailure } from "./image-failure.ts";
import { type ImageSource, imageKey, type StoredImage } from "./image-source.ts";
import { unpack } from "./unpack.ts";

const MAX_BYTES = 64 * 2 ** 30;
const TRANSFER_MS = 6 * 3_600_000;
/** A failed image is fetched again after this, when it is still requested. */
const RETRY_MS = 30_000;
/** An unused image stays this long: a rollout requests it again soon. */
const UNUSED_MS = 3_600_000;
/** Tenants name images, and share the network and the disk. */
const AT_ONCE = 4;

/** What the store may reach. */
export interface ImageStoreOptions {
  root: string;
  clock: Clock;
  gate: DialGate;
  /** Folders of this host whose files may be images. */
  fileRoots: readonly string[];
  /** The largest image; 64 GiB unless set. */
  maxBytes?: number | undefined;
}

/** What is known of an image. */
export type ImageState =
  | { type: "ready"; image: StoredImage }
  | { type: "fetching"; received: number; total: number | undefined }
  | { type: "failed"; failure: ImageFailure; retryAtMs: number };

type Unfinished = Exclude<ImageState, { type: "ready" }>;

/** The images of this host: each is fetched once, checked, and read-only from then on. */
export class ImageStore {
  readonly #options: ImageStoreOptions;
  readonly #unfinished = new Map<string, Unfinished>();
  readonly #listeners = new Set<() => void>();
  readonly #closing = new AbortController();
  readonly #work = new Set<Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: ImageStoreOptions) {
    this.#options = options;
  }

  /** Calls back when an image is ready or has failed. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Returns the image, or starts to fetch it and returns how far that is. */
  async get(source: ImageSource): Promise<ImageState> {
    const { clock, root } = this.#options;
    let key: string;
    let path: string | undefined;
    try {
      if (source.location.type === "file") {
        path = await allowedPath(source.location.path, this.#options.fileRoots);
        const { size, mtimeMs, ino } = await stat(path);
        // A file that was replaced is another image; machines that exist keep theirs.
        key = imageKey(source, `${path} ${size} ${mtimeMs} ${ino}`);
      } else key = imageKey(source);
    } catch (error) {
      return { type: "failed", failure: imageFailure(error), retryAtMs: clock.now() + RETRY_MS };
    }
    const image = { file: join(root, `${key}.img`), format: source.format };
    const unfinished = this.#unfinished.get(key);
    if (unfinished?.type === "fetching") return unfinished;
    if (await touched(image.file, clock)) return { type: "ready", image };
    // Another caller may have started it meanwhile.
    const state = this.#unfinished.get(key);
    if (state?.type === "fetching" || (state !== undefined && clock.now() < state.retryAtMs)) return state;
    return this.#start(key, source, path, image);
  }

  /** Deletes images that no disk is based on and that were not requested for an hour; `used` are their files. */
  async evict(used: ReadonlySet<string>): Promise<string[]> {
    const { root, clock } = this.#options;
    const evicted: string[] = [];
    for (const name of await readdir(root).catch(() => [] as string[])) {
      const file = join(root, name);
      const key = name.slice(0, name.indexOf("."));
      if (used.has(file) || this.#unfinished.get(key)?.type === "fetching") continue;
      const found = await stat(file).catch(() => undefined);
      if (found === undefined || clock.now() - found.mtimeMs < UNUSED_MS) continue;
      await rm(file, { force: true });
      evicted.push(file);
    }
    return evicted;
  }

  /** Interrupts what is being fetched; it resumes with the next store. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("the image store was closed"));
    for (const next of this.#waiting.splice(0)) next();
    await Promise.all(this.#work);
  }

  #start(key: string, source: ImageSource, path: string | undefined, image: StoredImage): ImageState {
    const state: Unfinished = { type: "fetching", received: 0, total: undefined };
    this.#unfinished.set(key, state);
    const progress = (received: number, total: number | undefined): void =>
      void Object.assign(state, { received, total });
    const work = this.#turn(() => this.#fetch(key, source, path, image, progress)).then(
      () => void this.#unfinished.delete(key),
      (error: unknown) => {
        const retryAtMs = this.#options.clock.now() + RETRY_MS;
        this.#unfinished.set(key, { type: "failed", failure: imageFailure(error), retryAtMs });
      },
    );
    this.#work.add(work);
    void work.then(() => {
      this.#work.delete(work);
      for (const listener of this.#listeners) listener();
    });
    return state;
  }

  async #turn(work: () => Promise<void>): Promise<void> {
    while (this.#running >= AT_ONCE && !this.#closing.signal.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#closing.signal.throwIfAborted();
    this.#running++;
    try {
      await work();
    } finally {
      this.#running--;
      this.#waiting.shift()?.();
    }
  }

  async #fetch(
    key: string,
    source: ImageSource,
    path: string | undefined,
    image: StoredImage,
    onProgress: (received: number, total: number | undefined) => void,
  ): Promise<void> {
    const { root, maxBytes = MAX_BYTES } = this.#options;
    await mkdir(root, { recursive: true, mode: 0o711 });
    const fetched =
      path === undefined
        ? { file: await this.#download(key, source, onProgress), keep: false }
        : { file: await this.#checkedFile(path, source), keep: true };
    const draft = join(root, `${key}.new`);
    try {
      await unpack(fetched, draft, maxBytes);
      await checkImage(draft, image.format).catch((error: unknown) => {
        // The message names the draft, which says nothing to whoever chose the image.
        if (error instanceof Error) error.message = error.message.replaceAll(draft, "the image");
        throw error;
      });
      // Every machine reads it, whichever user its QEMU runs as; the folder cannot be listed.
      await chmod(draft, 0o444);
      await rename(draft, image.file);
    } finally {
      await rm(draft, { force: true });
    }
    await syncDirectory(root);
  }

  async #download(
    key: string,
    source: ImageSource,
    onProgress: (received: number, total: number | undefined) => void,
  ): Promise<string> {
    const { clock, gate, root, maxBytes = MAX_BYTES } = this.#options;
    const url = source.location.type === "url" ? source.location.url : "";
    const { signal } = this.#closing;
    const digest = await this.#digest(url, source.checksum ?? "");
    const file = join(root, `${key}.download`);
    const fetcher = new Fetcher({ proxyFor: () => undefined, gate, signal });
    try {
      await downloadFile({ fetcher, url, file, digest, maxBytes, within: { clock, ms: TRANSFER_MS }, onProgress });
    } finally {
      await fetcher.close();
    }
    return file;
  }

  async #digest(url: string, checksum: string): Promise<string> {
    const { gate, clock } = this.#options;
    const download = httpDownload({ gate, clock });
    const { digest, shown } = await expectedDigest({ url, checksum }, download, this.#closing.signal);
    const lower = digest.toLowerCase();
    const algorithm = digestAlgorithm(undefined, lower);
    if (algorithm === "sha256" || algorithm === "sha512") return lower;
    throw new DownloadError("checksum", `${shown} is neither a SHA-256 nor a SHA-512 checksum`);
  }

  async #checkedFile(path: string, { checksum }: ImageSource): Promise<string> {
    if (checksum === undefined) return path;
    const algorithm = digestAlgorithm(undefined, checksum.toLowerCase());
    if (algorithm !== "sha256" && algorithm !== "sha512")
      throw new DownloadError("checksum", `the checksum of ${path} is neither SHA-256 nor SHA-512`);
    const actual = await digestOf(path, algorithm);
    if (actual !== checksum.toLowerCase())
      throw new DownloadError("checksum", `${path} has the checksum ${actual}, not the expected ${checksum}`);
    return path;
  }
}

/** Whether the image is there; if so it counts as requested now. */
async function touched(file: string, clock: Clock): Promise<boolean> {
  try {
    const seconds = clock.now() / 1000;
    await utimes(file, seconds, seconds);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
