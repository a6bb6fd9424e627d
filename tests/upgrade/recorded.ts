import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";

/** A data directory that an earlier commit made. */
export interface Recorded {
  readonly dataDir: string;
  /** When the earlier commit stopped. */
  readonly endMs: number;
  remove(): Promise<void>;
}

/** Puts the data directory that `record.mjs` recorded at an earlier commit into place. */
export async function recordedAt(commit: string): Promise<Recorded> {
  const testdata = new URL(`testdata/${commit}/`, import.meta.url);
  const dataDir = await mkdtemp(join(tmpdir(), "capstan-upgrade-"));
  const { endMs, databases, files } = JSON.parse(await readFile(new URL("recorded.json", testdata), "utf8")) as {
    endMs: number;
    databases: string[];
    files: Record<string, string>;
  };
  const write = async (path: string, content: string | Buffer): Promise<void> => {
    await mkdir(dirname(join(dataDir, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(dataDir, path), content);
  };
  for (const [index, path] of databases.entries())
    await write(path, gunzipSync(await readFile(new URL(`${index}.mdb.gz`, testdata))));
  for (const [path, text] of Object.entries(files)) await write(path, text);
  return { dataDir, endMs, remove: () => rm(dataDir, { recursive: true, force: true }) };
}
