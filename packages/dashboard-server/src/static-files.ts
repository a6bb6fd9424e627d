import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A file of the dashboard, ready to be sent. */
export interface StaticFile {
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  readonly type: string;
  readonly etag: string;
  /** The name contains a hash of the content, so the file never changes. */
  readonly immutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".woff2": "font/woff2",
  ".webmanifest": "application/manifest+json",
};

const compress = promisify(gzip);

/** Loads the built dashboard into memory, by URL path. No request reads any other file from disk. */
export async function loadStaticFiles(dir: string): Promise<ReadonlyMap<string, StaticFile>> {
  const files = new Map<string, StaticFile>();
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    const url = `/${relative(dir, path).split(sep).join("/")}`;
    files.set(url, {
      bytes,
      gzipped: await compress(bytes),
      type,
      etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
      immutable: url.startsWith("/assets/"),
    });
  }
  return files;
}
