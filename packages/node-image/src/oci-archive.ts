import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { run } from "./run.ts";

/** One layer of an image: a folder of the machine, without some of its paths. */
export interface Layer {
  readonly folder: string;
  /** As tar's --exclude. */
  readonly exclude?: readonly string[];
}

/** An image to be. */
export interface ImageDefinition {
  /** Full reference, `NAME:TAG`. */
  readonly reference: string;
  /** CPU architecture as in OCI. */
  readonly architecture: string;
  readonly layers: readonly Layer[];
  /** Its `config` as in the OCI image specification. */
  readonly config: object;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const OCI = "application/vnd.oci.image";

/**
 * Writes an image as an OCI archive, which container runtimes import and registries take. Layers are not compressed. Equal content gives
 * equal bytes; the archive appears whole or not at all.
 */
export async function writeOciArchive(target: string, image: ImageDefinition): Promise<void> {
  const folder = await mkdtemp(join(dirname(target), ".oci-"));
  const blobs = join(folder, "blobs/sha256");
  try {
    await mkdir(blobs, { recursive: true });
    const blob = async (mediaType: string, value: object): Promise<Descriptor> => {
      const text = JSON.stringify(value);
      const digest = createHash("sha256").update(text).digest("hex");
      await writeFile(join(blobs, digest), text);
      return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) };
    };
    const layers: Descriptor[] = [];
    for (const layer of image.layers) layers.push(await writeLayer(blobs, layer));
    const config = await blob(`${OCI}.config.v1+json`, {
      architecture: image.architecture,
      os: "linux",
      config: image.config,
      rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
    });
    const manifestType = `${OCI}.manifest.v1+json`;
    const manifest = await blob(manifestType, { schemaVersion: 2, mediaType: manifestType, config, layers });
    const annotations = {
      "io.containerd.image.name": image.reference,
      "org.opencontainers.image.ref.name": image.reference.slice(image.reference.lastIndexOf(":") + 1),
    };
    const index = { schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests: [{ ...manifest, annotations }] };
    await writeFile(join(folder, "index.json"), JSON.stringify(index));
    await writeFile(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    const archive = join(folder, "archive");
    await run("tar", [...TAR, "-C", folder, "-cf", archive, "oci-layout", "index.json", "blobs"]);
    await rename(archive, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const TAR = [
  "--sort=name",
  "--mtime=@0",
  "--numeric-owner",
  "--format=posix",
  "--pax-option=delete=atime,delete=ctime",
];

/** Streams tar's output into a blob, whose name is known when all of it has passed. */
async function writeLayer(blobs: string, { folder, exclude = [] }: Layer): Promise<Descriptor> {
  const file = join(blobs, "layer");
  const args = [...TAR, "--xattrs", "-C", folder, ...exclude.map((path) => `--exclude=${path}`), "-c", "."];
  const tar = spawn("tar", args, { stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  tar.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-4096);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    tar.once("error", reject);
    tar.once("close", resolve);
  });
  const hash = createHash("sha256");
  let size = 0;
  const observe = async function* (chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      size += chunk.length;
      yield chunk;
    }
  };
  await pipeline(tar.stdout, observe, createWriteStream(file));
  const code = await ended;
  if (code !== 0) throw new Error(`tar of ${folder} exited with code ${code ?? "137"}: ${errors.trim()}`);
  const digest = hash.digest("hex");
  await rename(file, join(blobs, digest));
  return { mediaType: `${OCI}.layer.v1.tar`, digest: `sha256:${digest}`, size };
}
